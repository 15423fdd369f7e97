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
  group = await scene.peopledGroup();
});

async function invite(params: object = {}): Promise<RpcResult<'group.invite.create'>> {
  const answer = await scene.call(
    'group.invite.create',
    { group_id: group.id, ...params },
    group.admin,
  );
  return rpcMethods['group.invite.create'].result.parse(answer.result);
}

const accept = (token: string, person: TestUser): Promise<RpcAnswer> =>
  scene.call('group.invite.accept', { token }, person);

async function memberCount(): Promise<number | undefined> {
  return (await scene.context.database.groups.find(group.id, null))?.memberCount;
}

test('an invitation shows its token once, and by default admits one user within a week', async () => {
  const before = Date.now();
  const invitation = await invite();
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
  const ttlSecs = (Date.parse(invitation.expires_at) - before) / 1000;
  expect(ttlSecs).toBeGreaterThanOrEqual(604_800);
  expect(ttlSecs).toBeLessThan(604_860);
});

test('a user who accepts joins with the granted role', async () => {
  const guest = await scene.person('guest');
  const { token } = await invite({ role: 'admin' });
  expect((await accept(token, guest)).result).toMatchObject({
    id: group.id,
    my_role: 'admin',
    member_count: 4,
  });
});

test('an invitation for an email admits only its owner', async () => {
  const guest = await scene.person('guest');
  const { token, email } = await invite({ email: ` ${guest.email.toUpperCase()} ` });
  expect(email).toBe(guest.email);
  expect((await accept(token, scene.outsider)).error).toEqual({
    code: -32_000,
    message: 'this invitation is for another email address',
  });
  expect((await accept(token, guest)).result).toMatchObject({ my_role: 'member' });
});

test('a single-use invitation works once', async () => {
  const { token } = await invite();
  await accept(token, await scene.person('first'));
  expect((await accept(token, await scene.person('second'))).error).toEqual({
    code: -32_000,
    message: 'this invitation has been used up: ask for a new one',
  });
  expect(await memberCount()).toBe(4);
});

test('an invitation with several uses works that many times', async () => {
  const { token } = await invite({ max_uses: 2 });
  const codes = [];
  for (const name of ['first', 'second', 'third']) {
    codes.push((await accept(token, await scene.person(name))).error?.code);
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
  const guest = await scene.person('guest');
  const { token } = await invite({ max_uses: 2 });
  expect((await accept(token, group.member)).error).toEqual({
    code: -32_000,
    message: 'already a member of the group',
  });
  expect((await accept(token, guest)).error).toBeUndefined();
  expect((await accept(token, guest)).error?.message).toBe('already a member of the group');
  expect((await accept(token, await scene.person('last'))).error).toBeUndefined();
});

test('a deactivated member cannot rejoin with an invitation', async () => {
  const { token } = await invite();
  expect((await accept(token, group.deactivated)).error).toEqual({
    code: -32_000,
    message: 'your membership was deactivated: ask an admin of the group to reactivate it',
  });
  expect(await memberCount()).toBe(3);
});

test('of concurrent acceptances of a single-use invitation exactly one succeeds', async () => {
  const people = await Promise.all(
    Array.from({ length: 20 }, (_value, index) => scene.person(`guest${index}`)),
  );
  const { token } = await invite();
  const answers = await Promise.all(people.map((person) => accept(token, person)));
  const messages = answers.map(({ error }) => error?.message ?? 'joined');
  expect(messages.filter((message) => message === 'joined')).toHaveLength(1);
  expect(new Set(messages)).toEqual(
    new Set(['joined', 'this invitation has been used up: ask for a new one']),
  );
  expect(await memberCount()).toBe(4);
});

test('concurrent acceptances of one user use the invitation once', async () => {
  const guest = await scene.person('guest');
  const { token } = await invite({ max_uses: 2 });
  const answers = await Promise.all(Array.from({ length: 10 }, () => accept(token, guest)));
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(1);
  expect((await accept(token, await scene.person('second'))).error).toBeUndefined();
});
