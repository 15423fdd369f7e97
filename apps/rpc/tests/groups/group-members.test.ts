import type { RpcAnswer } from '@model-gateway/testkit';
import { openGroupScene, type GroupScene, type PopulatedGroup } from './group-scene.ts';

let scene: GroupScene;

beforeAll(async () => {
  scene = await openGroupScene();
});
afterAll(() => scene.close());

const holderOf = async (keyHash: string) =>
  (await scene.context.database.keys.findHolder(keyHash))?.holder;

const changeMember = (group: PopulatedGroup, change: object): Promise<RpcAnswer> =>
  scene.call(
    'group.members.update',
    { group_id: group.id, user_id: group.member.email, ...change },
    group.admin,
  );

describe('group.members.add', () => {
  it('adds a user by email, in any case', async () => {
    const { id: group_id, admin } = await scene.populatedGroup();
    const invitee = await scene.createUser('invitee');
    const params = { group_id, email: ` ${invitee.email.toUpperCase()} `, cost_multiplier: 0.5 };
    const { result } = await scene.call('group.members.add', params, admin);
    expect(result).toEqual({
      user_id: invitee.email,
      email: invitee.email,
      name: 'invitee',
      role: 'member',
      cost_multiplier: 0.5,
      is_active: true,
      is_owner: false,
      joined_at: expect.any(String),
    });
  });

  it('changes the given fields of an existing member', async () => {
    const group = await scene.populatedGroup();
    const add = async (params: object) =>
      (
        await scene.call(
          'group.members.add',
          { group_id: group.id, email: group.member.email, ...params },
          group.owner,
        )
      ).result;
    expect(await add({ cost_multiplier: 3 })).toMatchObject({ role: 'member', cost_multiplier: 3 });
    expect(await add({ role: 'admin' })).toMatchObject({ role: 'admin', cost_multiplier: 3 });
    expect(await add({})).toMatchObject({ role: 'admin', cost_multiplier: 3 });
  });

  it('reactivates a deactivated member', async () => {
    const { id: group_id, admin, deactivated } = await scene.populatedGroup();
    const params = { group_id, email: deactivated.email };
    const { result } = await scene.call('group.members.add', params, admin);
    expect(result).toMatchObject({ is_active: true });
    expect((await scene.call('group.get', { group_id }, deactivated)).error).toBeUndefined();
  });

  it('called concurrently for one user creates one member', async () => {
    const { id: group_id, admin } = await scene.populatedGroup();
    const { email } = await scene.createUser('invitee');
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => scene.call('group.members.add', { group_id, email }, admin)),
    );
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    expect((await scene.call('group.members.list', { group_id }, admin)).result).toHaveLength(4);
  });
});

describe('a group key', () => {
  it('stops when its member is deactivated and works again afterwards', async () => {
    const group = await scene.populatedGroup();
    const keyHash = await scene.groupKey(group.member, group.id);
    expect(await holderOf(keyHash)).toMatchObject({ groupId: group.id });
    expect((await changeMember(group, { is_active: false })).result).toMatchObject({
      is_active: false,
    });
    expect(await holderOf(keyHash)).toBeUndefined();
    await changeMember(group, { is_active: true });
    expect(await holderOf(keyHash)).toMatchObject({ groupId: group.id });
  });

  it('is revoked when its member is removed, and stays revoked when they rejoin', async () => {
    const group = await scene.populatedGroup();
    const other = await scene.populatedGroup();
    const { member, owner } = group;
    const keyHash = await scene.groupKey(member, group.id);
    const elsewhere = await scene.groupKey(member, other.id);
    const params = { group_id: group.id, user_id: member.email };
    const { result } = await scene.call('group.members.remove', params, owner);
    expect(result).toEqual({ ok: true });
    await scene.call('group.members.add', { group_id: group.id, email: member.email }, owner);
    expect(await holderOf(keyHash)).toBeUndefined();
    expect(await holderOf(elsewhere)).toMatchObject({ groupId: other.id });
    await scene.call('group.delete', { group_id: group.id }, owner);
    expect(await holderOf(keyHash)).toBeUndefined();
  });
});

describe('the owner', () => {
  const attempts = [
    { why: 'deactivated', method: 'group.members.update', change: { is_active: false } },
    { why: 'made an ordinary member', method: 'group.members.update', change: { role: 'member' } },
    { why: 'made an ordinary member', method: 'group.members.add', change: { role: 'member' } },
    { why: 'removed', method: 'group.members.remove', change: {} },
  ] as const;

  it.each(attempts)('cannot be $why by $method', async ({ why, method, change }) => {
    const { id: group_id, owner, admin } = await scene.populatedGroup();
    const params = { group_id, email: owner.email, user_id: owner.email, ...change };
    for (const caller of [admin, owner, scene.platform]) {
      expect((await scene.call(method, params, caller)).error).toEqual({
        code: -32_000,
        message: `the owner of the group cannot be ${why}`,
      });
    }
    const { result } = await scene.call('group.members.list', { group_id }, owner);
    expect(result).toContainEqual(
      expect.objectContaining({ email: owner.email, role: 'admin', is_active: true }),
    );
  });

  it('can get another multiplier', async () => {
    const { id: group_id, owner, admin } = await scene.populatedGroup();
    const params = { group_id, user_id: owner.email, cost_multiplier: 2, is_active: true };
    const { result } = await scene.call('group.members.update', params, admin);
    expect(result).toMatchObject({ cost_multiplier: 2, role: 'admin', is_owner: true });
  });
});

test('an admin may become an ordinary member', async () => {
  const { id: group_id, admin } = await scene.populatedGroup();
  const params = { group_id, user_id: admin.email, role: 'member' };
  expect((await scene.call('group.members.update', params, admin)).result).toMatchObject({
    role: 'member',
  });
  expect((await scene.call('group.members.list', { group_id }, admin)).error?.code).toBe(-32_007);
});

test.each([
  { method: 'group.members.add', message: 'user not found' },
  { method: 'group.members.update', message: 'member not found' },
  { method: 'group.members.remove', message: 'member not found' },
] as const)('$method of an unknown user: $message', async ({ method, message }) => {
  const { id: group_id, owner } = await scene.populatedGroup();
  const params = { group_id, email: 'missing@example.com', user_id: 'missing@example.com' };
  expect((await scene.call(method, params, owner)).error).toEqual({ code: -32_000, message });
});
