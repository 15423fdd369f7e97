import { newId } from '@model-gateway/kernel';
import type { RpcAnswer } from '@model-gateway/testkit';
import { openGroupScene, type GroupScene } from './group-scene.ts';
import { ADMIN_TOKEN, startRpc } from '../rpc-server.ts';

let scene: GroupScene;

beforeAll(async () => {
  scene = await openGroupScene();
});
afterAll(() => scene.close());

const resultOf = async (answer: Promise<RpcAnswer>): Promise<Record<string, unknown>> => {
  const { result, error } = await answer;
  expect(error).toBeUndefined();
  return result as Record<string, unknown>;
};

describe('group.create', () => {
  it('makes the creator the owner and an admin member', async () => {
    const creator = await scene.createUser('creator');
    const group = await resultOf(
      scene.call('group.create', { name: ' Lab ', description: 'we test' }, creator),
    );
    expect(group).toEqual({
      id: expect.any(String),
      name: 'Lab',
      description: 'we test',
      my_role: 'owner',
      member_count: 1,
      enforce_model_allowlist: false,
      rpm_ceiling: null,
      created_at: expect.stringMatching(/Z$/),
    });
    const { members } = await resultOf(scene.call('group.get', { group_id: group['id'] }, creator));
    expect(members).toEqual([
      {
        user_id: creator.email,
        email: creator.email,
        name: 'creator',
        role: 'admin',
        cost_multiplier: 1,
        is_active: true,
        is_owner: true,
        joined_at: expect.stringMatching(/Z$/),
      },
    ]);
  });

  it('with an existing id returns that group, unchanged', async () => {
    const creator = await scene.createUser('creator');
    const id = newId();
    const first = await resultOf(scene.call('group.create', { id, name: 'first' }, creator));
    await scene.call('group.update', { group_id: id, rpm_ceiling: 5 }, creator);
    const second = await resultOf(scene.call('group.create', { id, name: 'second' }, creator));
    expect(second).toEqual({ ...first, rpm_ceiling: 5 });
  });

  it('refuses a name that cannot be stored', async () => {
    const { error } = await scene.call('group.create', { name: 'a\u0000b' }, scene.outsider);
    expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('name') });
  });

  it('treats an upper-case id as the same id', async () => {
    const creator = await scene.createUser('creator');
    const id = newId();
    const group_id = id.toUpperCase();
    const first = await resultOf(scene.call('group.create', { id: group_id, name: 'x' }, creator));
    expect(first).toMatchObject({ id });
    expect(await resultOf(scene.call('group.create', { id, name: 'x' }, creator))).toEqual(first);
    expect(await resultOf(scene.call('group.invite.create', { group_id }, creator))).toMatchObject({
      group_id: id,
    });
  });

  it('with the id of a group of another user is refused', async () => {
    const { id, admin } = await scene.populatedGroup();
    expect((await scene.call('group.create', { id, name: 'mine' }, admin)).error).toEqual({
      code: -32_000,
      message: 'group id already in use',
    });
  });

  it('called ten times concurrently with one id creates one group', async () => {
    const creator = await scene.createUser('creator');
    const id = newId();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        resultOf(scene.call('group.create', { id, name: 'once' }, creator)),
      ),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ id, my_role: 'owner', member_count: 1 });
    expect((await scene.call('group.list', {}, creator)).result).toHaveLength(1);
  });

  it('called concurrently by two users with one id succeeds for one of them', async () => {
    const users = await Promise.all([scene.createUser('a'), scene.createUser('b')]);
    const id = newId();
    const answers = await Promise.all(
      users.map((user) => scene.call('group.create', { id, name: 'once' }, user)),
    );
    const errors = answers.flatMap(({ error }) => (error === undefined ? [] : [error.message]));
    expect(errors).toEqual(['group id already in use']);
  });
});

describe('the admin token', () => {
  it('creates groups for the oldest admin account and lists every group', async () => {
    const group = await resultOf(scene.call('group.create', { name: 'ours' }, ADMIN_TOKEN));
    expect(group).toMatchObject({ my_role: 'owner', member_count: 1 });
    const members = await scene.context.database.members.list(String(group['id']), {
      countMax: 10,
    });
    expect(members).toMatchObject([{ email: scene.platform.email, isOwner: true }]);

    const { id } = await scene.populatedGroup();
    const { result } = await scene.call('group.list', {}, ADMIN_TOKEN);
    const listed = result as { readonly id: string; readonly my_role: unknown }[];
    expect(listed.map((one) => one.id)).toEqual(expect.arrayContaining([group['id'], id]));
    expect(new Set(listed.map((one) => one.my_role))).toEqual(new Set([null]));
  });

  it('cannot create a group before there is an admin account', async () => {
    const empty = await startRpc();
    const { error } = await empty.call('group.create', { name: 'whose' }, ADMIN_TOKEN);
    expect(error).toEqual({
      code: -32_000,
      message: expect.stringContaining('there is no admin account yet'),
    });
    await empty.test.close();
  });

  it('is refused by all other group methods', async () => {
    const { id } = await scene.populatedGroup();
    const { error } = await scene.call('group.get', { group_id: id }, ADMIN_TOKEN);
    expect(error?.code).toBe(-32_005);
  });
});

describe('group.list and group.get', () => {
  it('show each member their role, and only the active members', async () => {
    const { id, owner, admin, member, deactivated } = await scene.populatedGroup();
    const group_id = id;
    for (const [user, role] of [
      [owner, 'owner'],
      [admin, 'admin'],
      [member, 'member'],
    ] as const) {
      const { result } = await scene.call('group.list', {}, user);
      expect(result).toContainEqual(
        expect.objectContaining({ id, my_role: role, member_count: 3 }),
      );
    }
    expect((await scene.call('group.list', {}, deactivated)).result).not.toContainEqual(
      expect.objectContaining({ id }),
    );
    const seen = await resultOf(scene.call('group.get', { group_id }, scene.platform));
    expect(seen).toMatchObject({
      my_role: null,
      members: [{ email: owner.email }, { email: admin.email }, { email: member.email }],
    });
  });

  it('show the owner first, whenever the others joined', async () => {
    const { id, owner } = await scene.populatedGroup();
    await scene.context.database.members.remove(id, owner.id);
    await scene.context.database.members.save(id, owner.id, { role: 'admin' });
    const { result } = await scene.call('group.members.list', { group_id: id }, owner);
    expect(result).toMatchObject([{ is_owner: true }, { is_owner: false }, { is_owner: false }]);
  });
});

describe('group.update', () => {
  it('changes the given fields, and null clears the ceiling', async () => {
    const { id: group_id, owner } = await scene.populatedGroup();
    const update = (changes: object) =>
      resultOf(scene.call('group.update', { group_id, ...changes }, owner));
    const all = { name: 'n', description: 'd', enforce_model_allowlist: true, rpm_ceiling: 7 };
    expect(await update(all)).toMatchObject(all);
    expect(await update({})).toMatchObject(all);
    expect(await update({ name: 'm' })).toMatchObject({ ...all, name: 'm' });
    expect(await update({ rpm_ceiling: null })).toMatchObject({
      ...all,
      name: 'm',
      rpm_ceiling: null,
    });
  });
});

describe('group.models', () => {
  it('are allowed or denied, never both, and listed in order', async () => {
    const { id: group_id, owner } = await scene.populatedGroup();
    const set = (rule: 'allow' | 'deny', model_ids: readonly string[]) =>
      resultOf(scene.call(`group.models.${rule}`, { group_id, model_ids }, owner));
    expect(await set('allow', ['b', 'a', 'b'])).toEqual({ allowed: ['a', 'b'], denied: [] });
    expect(await set('deny', ['b', 'c'])).toEqual({ allowed: ['a'], denied: ['b', 'c'] });
    expect(await set('allow', ['c'])).toEqual({ allowed: ['a', 'c'], denied: ['b'] });
    expect((await scene.call('group.models.list', { group_id }, owner)).result).toEqual({
      allowed: ['a', 'c'],
      denied: ['b'],
    });
  });
});

describe('group.delete', () => {
  it('also deletes memberships, invitations and rules, and makes the keys personal', async () => {
    const { id: group_id, owner, member } = await scene.populatedGroup();
    const { token } = await resultOf(scene.call('group.invite.create', { group_id }, owner));
    const keyHash = await scene.groupKey(member, group_id);
    expect(await resultOf(scene.call('group.delete', { group_id }, owner))).toEqual({ ok: true });
    expect(await scene.context.database.keys.findHolder(keyHash)).toMatchObject({
      holder: { userId: member.id, groupId: null },
    });
    const notFound = { code: -32_000, message: 'group not found' };
    expect((await scene.call('group.get', { group_id }, owner)).error).toEqual(notFound);
    expect((await scene.call('group.delete', { group_id }, owner)).error).toEqual(notFound);
    expect((await scene.call('group.invite.accept', { token }, scene.outsider)).error).toEqual({
      code: -32_000,
      message: 'invitation not found',
    });
  });
});

test('changes are announced on the accounts channel', async () => {
  const { id: group_id, owner, member } = await scene.populatedGroup();
  const messages: unknown[] = [];
  let wake = (): void => undefined;
  const subscription = await scene.context.bus.channels.subscribe('accounts', (message) => {
    messages.push(JSON.parse(message));
    wake();
  });
  const messagesNext = async (count: number): Promise<void> => {
    while (messages.length < count) await new Promise<void>((resolve) => (wake = resolve));
  };
  const steps = [
    ['group.update', { name: 'x' }, { kind: 'group', group_id }],
    ['group.models.deny', { model_ids: ['a'] }, { kind: 'group', group_id }],
    [
      'group.members.update',
      { user_id: member.email, is_active: false },
      { kind: 'member', group_id, user_id: member.id },
    ],
    [
      'group.members.add',
      { email: member.email },
      { kind: 'member', group_id, user_id: member.id },
    ],
    [
      'group.members.remove',
      { user_id: member.email },
      { kind: 'member', group_id, user_id: member.id },
    ],
    ['group.delete', {}, { kind: 'group', group_id }],
  ] as const;
  for (const [index, [method, params, message]] of steps.entries()) {
    await resultOf(scene.call(method, { group_id, ...params }, owner));
    await messagesNext(index + 1);
    expect(messages[index]).toMatchObject(message);
  }
  await subscription.close();
});
