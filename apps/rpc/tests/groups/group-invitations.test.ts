import { rpcMethods, type RpcResult } from '@model-gateway/contracts';
import { newId, sha256Hex } from '@model-gateway/kernel';
import type { RpcAnswer } from '@model-gateway/testkit';
import {
  openGroupScene,
  type GroupScene,
  type PopulatedGroup,
  type TestUser,
} from './group-scene.ts';

let scene: GroupScene;
let group: PopulatedGroup;

beforeAll(async () => {
  scene = await openGroupScene();
});
afterAll(() => scene.close());
beforeEach(async () => {
  group = await scene.populatedGroup();
});

async function invite(params: object = {}): Promise<RpcResult<'group.invite.create'>> {
  const answer = await scene.call(
    'group.invite.create',
    { group_id: group.id, ...params },
    group.admin,
  );
  return rpcMethods['group.invite.create'].result.parse(answer.result);
}

const accept = (token: string, user: TestUser): Promise<RpcAnswer> =>
  scene.call('group.invite.accept', { token }, user);

async function memberCount(): Promise<number | undefined> {
  return (await scene.context.database.groups.find(group.id, null))?.memberCount;
}

test('an invitation shows its token once, and by default admits one user within a week', async () => {
  const before = Date.now();
  const invitation = await invite();
  const after = Date.now();
  expect(invitation).toEqual({
    id: expect.any(String),
    token: expect.stringMatching(/^inv-[\w-]{43}$/),
    group_id: group.id,
    role: 'member',
    email: null,
    max_uses: 1,
    uses: 0,
    expires_at: expect.any(String),
  });
  const invitedAt = Date.parse(invitation.expires_at) - 604_800_000;
  expect(invitedAt).toBeGreaterThanOrEqual(before);
  expect(invitedAt).toBeLessThanOrEqual(after);
});

test('a user who accepts joins with the granted role', async () => {
  const invitee = await scene.createUser('invitee');
  const { token } = await invite({ role: 'admin' });
  expect((await accept(token, invitee)).result).toMatchObject({
    id: group.id,
    my_role: 'admin',
    member_count: 4,
  });
});

test('an invitation for an email admits only its owner', async () => {
  const invitee = await scene.createUser('invitee');
  const { token, email } = await invite({ email: ` ${invitee.email.toUpperCase()} ` });
  expect(email).toBe(invitee.email);
  expect((await accept(token, scene.outsider)).error).toEqual({
    code: -32_000,
    message: 'this invitation is for another email address',
  });
  expect((await accept(token, invitee)).result).toMatchObject({ my_role: 'member' });
});

test('a single-use invitation works once', async () => {
  const { token } = await invite();
  await accept(token, await scene.createUser('first'));
  expect((await accept(token, await scene.createUser('second'))).error).toEqual({
    code: -32_000,
    message: 'this invitation has been used up: ask for a new one',
  });
  expect(await memberCount()).toBe(4);
});

test('an invitation with several uses works that many times', async () => {
  const { token } = await invite({ max_uses: 2 });
  const codes = [];
  for (const name of ['first', 'second', 'third']) {
    codes.push((await accept(token, await scene.createUser(name))).error?.code);
  }
  expect(codes).toEqual([undefined, undefined, -32_000]);
});

test('an expired invitation admits no one', async () => {
  const token = `inv-${newId()}`;
  await scene.context.database.invitations.create({
    id: newId(),
    tokenHash: sha256Hex(token),
    groupId: group.id,
    role: 'member',
    email: null,
    maxUses: 1,
    expiresAt: new Date(Date.now() - 1),
    createdById: group.owner.id,
  });
  expect((await accept(token, scene.outsider)).error).toEqual({
    code: -32_000,
    message: 'this invitation has expired: ask for a new one',
  });
});

test.each(['inv-unknown', '', 'inv-\u0000', '💥'])('the token %j is not found', async (token) => {
  expect((await accept(token, scene.outsider)).error).toEqual({
    code: -32_000,
    message: 'invitation not found',
  });
});

test('a member who accepts again does not use up the invitation', async () => {
  const invitee = await scene.createUser('invitee');
  const { token } = await invite({ max_uses: 2 });
  expect((await accept(token, group.member)).error).toEqual({
    code: -32_000,
    message: 'already a member of the group',
  });
  expect((await accept(token, invitee)).error).toBeUndefined();
  expect((await accept(token, invitee)).error?.message).toBe('already a member of the group');
  expect((await accept(token, await scene.createUser('last'))).error).toBeUndefined();
});

test('a deactivated member cannot rejoin with an invitation', async () => {
  const { token } = await invite();
  expect((await accept(token, group.deactivated)).error).toEqual({
    code: -32_000,
    message: 'your membership was deactivated: ask an admin of the group to reactivate it',
  });
  expect(await memberCount()).toBe(3);
});

test('who was removed rejoins only with an invitation that was made afterwards', async () => {
  const who = { group_id: group.id, user_id: group.member.email };
  const { token } = await invite({ max_uses: 5 });
  expect((await scene.call('group.members.remove', who, group.admin)).error).toBeUndefined();
  expect((await accept(token, group.member)).error).toEqual({
    code: -32_000,
    message: 'you were removed from the group since this invitation was made: ask for a new one',
  });
  expect((await accept(token, await scene.createUser('other'))).error).toBeUndefined();
  const anew = await invite();
  expect((await accept(anew.token, group.member)).result).toMatchObject({ my_role: 'member' });
});

test('who accepts while they are removed stays removed', async () => {
  const who = { group_id: group.id, user_id: group.member.email };
  const { token } = await invite({ max_uses: 50 });
  const answers = await Promise.all([
    ...Array.from({ length: 10 }, () => accept(token, group.member)),
    scene.call('group.members.remove', who, group.admin),
    ...Array.from({ length: 10 }, () => accept(token, group.member)),
  ]);
  expect(answers[10]?.error).toBeUndefined();
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
  expect(await memberCount()).toBe(2);
});

test.each([
  { why: 'removed', method: 'group.members.remove', change: {} },
  { why: 'made an ordinary member', method: 'group.members.update', change: { role: 'member' } },
  { why: 'deactivated', method: 'group.members.update', change: { is_active: false } },
] as const)('an invitation ends when who made it is $why', async ({ method, change }) => {
  const { token } = await invite({ role: 'admin', max_uses: 5 });
  const who = { group_id: group.id, user_id: group.admin.email };
  expect((await scene.call(method, { ...who, ...change }, group.owner)).error).toBeUndefined();
  const invitee = await scene.createUser('invitee');
  expect((await accept(token, invitee)).error).toMatchObject({
    code: -32_000,
    message: expect.stringContaining('may no longer invite to the group'),
  });
  expect((await accept(token, group.admin)).result).toBeUndefined();
});

test('an invitation of a platform admin who is no member works', async () => {
  const invited = await scene.call('group.invite.create', { group_id: group.id }, scene.platform);
  const { token } = invited.result as RpcResult<'group.invite.create'>;
  const invitee = await scene.createUser('invitee');
  expect((await accept(token, invitee)).result).toMatchObject({ my_role: 'member' });
});

test('of concurrent acceptances of a single-use invitation exactly one succeeds', async () => {
  const users = await Promise.all(
    Array.from({ length: 20 }, (_value, index) => scene.createUser(`invitee${index}`)),
  );
  const { token } = await invite();
  const answers = await Promise.all(users.map((user) => accept(token, user)));
  const messages = answers.map(({ error }) => error?.message ?? 'joined');
  expect(messages.filter((message) => message === 'joined')).toHaveLength(1);
  expect(new Set(messages)).toEqual(
    new Set(['joined', 'this invitation has been used up: ask for a new one']),
  );
  expect(await memberCount()).toBe(4);
});

test('concurrent acceptances of one user use the invitation once', async () => {
  const invitee = await scene.createUser('invitee');
  const { token } = await invite({ max_uses: 2 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept(token, invitee)));
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
  expect((await accept(token, await scene.createUser('second'))).error).toBeUndefined();
});
