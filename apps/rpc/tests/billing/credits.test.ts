import { rpcMethods } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { fullSize, type RpcAnswer } from '@model-gateway/testkit';
import {
  openGroupScene,
  type GroupScene,
  type PopulatedGroup,
  type TestUser,
} from '../groups/group-scene.ts';

const AT_ONCE = fullSize(50, { small: 14 });

let scene: GroupScene;
let group: PopulatedGroup;

beforeAll(async () => {
  scene = await openGroupScene();
});
afterAll(() => scene.close());
beforeEach(async () => {
  group = await scene.populatedGroup();
});

const topUp = (params: object, who: TestUser = scene.platform) =>
  scene.call('group.credits.topup', { group_id: group.id, ...params }, who);
const allocate = (params: object, who: TestUser = group.admin) =>
  scene.call(
    'group.credits.allocate',
    { group_id: group.id, user_id: group.member.email, ...params },
    who,
  );
const pool = async (who: TestUser = group.admin) => {
  const { result } = await scene.call('group.credits.balance', { group_id: group.id }, who);
  return rpcMethods['group.credits.balance'].result.parse(result);
};
const wallet = async (who: TestUser) => {
  const { result } = await scene.call('ledger.self', {}, who);
  return rpcMethods['ledger.self'].result.parse(result);
};

/** Users keep their wallets between tests, so a new member starts with an empty one. */
async function newMember(): Promise<TestUser> {
  const user = await scene.createUser('fresh');
  await scene.context.database.members.save(group.id, user.id, {});
  return user;
}

test('points are added to the pool and allocated to a member, and both ledgers show it', async () => {
  const member = await newMember();
  expect(await pool()).toEqual({ balance: 0, entries: [] });
  expect((await topUp({ points: 100, note: 'May' })).result).toEqual({ balance: 100 });
  const response = await allocate({ user_id: member.email.toUpperCase(), points: 30 });
  expect(response.result).toEqual({ balance: 70, wallet_balance: 30 });
  expect(await pool()).toEqual({
    balance: 70,
    entries: [
      {
        id: expect.any(String),
        delta: -30,
        balance_after: 70,
        kind: 'allocate',
        note: null,
        ref: member.id,
        created_at: expect.any(String),
      },
      {
        id: expect.any(String),
        delta: 100,
        balance_after: 100,
        kind: 'topup',
        note: 'May',
        ref: null,
        created_at: expect.any(String),
      },
    ],
  });
  expect(await wallet(member)).toMatchObject({
    balance: 30,
    entries: [{ delta: 30, balance_after: 30, kind: 'allocate', ref: group.id }],
  });
});

test('of concurrent allocations of 10 from a pool of 105 exactly ten succeed', async () => {
  const member = await newMember();
  await topUp({ points: 105 });
  const answers = await Promise.all(
    Array.from({ length: AT_ONCE }, () => allocate({ user_id: member.email, points: 10 })),
  );
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(10);
  const refusals = answers.flatMap(({ error }) => error ?? []);
  expect(refusals).toHaveLength(AT_ONCE - 10);
  for (const refusal of refusals) {
    expect(refusal).toEqual({ code: -32_000, message: 'the pool does not hold so many points' });
  }
  expect((await pool()).balance).toBe(5);
  expect((await wallet(member)).balance).toBe(100);
});

test('concurrent top-ups add up', async () => {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => topUp({ points: 7 })));
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
  expect((await pool()).balance).toBe(AT_ONCE * 7);
});

test('a repeated call with an idempotency key returns the same and moves nothing, also concurrently', async () => {
  const member = await newMember();
  const toppedUp = await Promise.all(
    Array.from({ length: 10 }, () => topUp({ points: 50, idempotency_key: 'order-1' })),
  );
  for (const { result } of toppedUp) expect(result).toEqual({ balance: 50 });
  const params = { user_id: member.email, points: 20, idempotency_key: 'order-1' };
  const allocated = await Promise.all(Array.from({ length: 10 }, () => allocate(params)));
  for (const { result } of allocated) expect(result).toEqual({ balance: 30, wallet_balance: 20 });
  await topUp({ points: 1 });
  expect((await topUp({ points: 50, idempotency_key: 'order-1' })).result).toEqual({ balance: 50 });
  expect((await pool()).balance).toBe(31);
  expect((await wallet(member)).balance).toBe(20);
});

test('an idempotency key is valid within one group', async () => {
  await topUp({ points: 5, idempotency_key: 'k' });
  const other = await scene.populatedGroup();
  const response = await topUp({ group_id: other.id, points: 9, idempotency_key: 'k' });
  expect(response.result).toEqual({ balance: 9 });
});

describe('a refused call moves nothing', () => {
  interface Refusal {
    readonly why: string;
    readonly call: () => Promise<RpcAnswer>;
    readonly code: number;
    readonly message: string;
  }
  const REFUSALS: readonly Refusal[] = [
    {
      why: 'the pool is short by one point',
      call: () => allocate({ points: 11 }),
      code: -32_000,
      message: 'the pool does not hold so many points',
    },
    {
      why: 'the member is deactivated',
      call: () => allocate({ user_id: group.deactivated.email, points: 1 }),
      code: -32_000,
      message: 'the member is deactivated',
    },
    {
      why: 'the user is not a member',
      call: () => allocate({ user_id: scene.outsider.email, points: 1 }),
      code: -32_000,
      message: 'member not found',
    },
    {
      why: 'no account has the email',
      call: () => allocate({ user_id: 'missing@example.com', points: 1 }),
      code: -32_000,
      message: 'member not found',
    },
    {
      why: 'the idempotency key was used for another amount',
      call: () => topUp({ points: 11, idempotency_key: 'known' }),
      code: -32_000,
      message: 'the idempotency_key was used for another movement',
    },
    {
      why: 'the caller is a group owner and not a platform admin',
      call: () => topUp({ points: 1 }, group.owner),
      code: -32_007,
      message: expect.stringContaining('group.credits.topup'),
    },
    {
      why: 'the group does not exist',
      call: () => topUp({ group_id: newId(), points: 1 }),
      code: -32_000,
      message: 'group not found',
    },
  ];

  test.each(REFUSALS)('$why', async ({ call, code, message }) => {
    await topUp({ points: 10, idempotency_key: 'known' });
    const walletBefore = await wallet(group.member);
    expect((await call()).error).toEqual({ code, message });
    expect((await pool()).balance).toBe(10);
    expect(await wallet(group.member)).toEqual(walletBefore);
  });

  test.each([
    { points: 0 },
    { points: -1 },
    { points: 1.5 },
    { points: '5' },
    { points: 10 ** 13 },
    {},
    { points: 1, idempotency_key: '' },
    { points: 1, idempotency_key: 'k'.repeat(129) },
    { points: 1, note: 'n'.repeat(501) },
    { points: 1, group_id: 'not a uuid' },
  ])('params %p', async (params) => {
    expect((await topUp(params)).error?.code).toBe(-32_602);
    expect((await allocate(params)).error?.code).toBe(-32_602);
    expect((await allocate({ points: 1, user_id: 'no email' })).error?.code).toBe(-32_602);
    expect((await pool()).balance).toBe(0);
  });
});

test('the admin token is not an admin account: it cannot top up', async () => {
  const params = { group_id: group.id, points: 1 };
  const response = await scene.call('group.credits.topup', params, 'the admin token of the tests');
  expect(response.error?.code).toBe(-32_005);
});

test('deleting a group moves the rest of its pool to the wallet of the owner', async () => {
  const owner = await scene.createUser('owner');
  const created = await scene.call('group.create', { name: 'short-lived' }, owner);
  const { id } = rpcMethods['group.create'].result.parse(created.result);
  await topUp({ group_id: id, points: 42 });
  await scene.call('group.delete', { group_id: id }, owner);
  expect(await wallet(owner)).toMatchObject({
    balance: 42,
    entries: [{ delta: 42, balance_after: 42, kind: 'refund', ref: id }],
  });
  expect(await hint('user', owner.id)).toMatchObject({ balance: 42, hasHistory: true });
  expect(await hint('group', id)).toMatchObject({ balance: 0, hasHistory: true });
});

/** The hint that the admission of the next request uses. */
async function hint(type: 'user' | 'group', id: string): Promise<unknown> {
  const response = await scene.context.bus.admission.admit({
    knownEpoch: Number.MAX_SAFE_INTEGER,
    limits: [],
    account: { type, id },
  });
  return response.outcome === 'admitted' ? response.account : response;
}

test('the next request sees the new balances', async () => {
  const member = await newMember();
  await topUp({ points: 100 });
  expect(await hint('group', group.id)).toMatchObject({ balance: 100, hasHistory: true });
  await allocate({ user_id: member.email, points: 60 });
  expect(await hint('group', group.id)).toMatchObject({ balance: 40 });
  expect(await hint('user', member.id)).toMatchObject({ balance: 60, increases: 1 });
});
