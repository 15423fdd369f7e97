import { rpcMethods } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { RpcAnswer } from '@model-gateway/testkit';
import { openGroupScene, type GroupScene, type PeopledGroup, type Person } from './group-scene.ts';

let scene: GroupScene;
let group: PeopledGroup;

beforeAll(async () => {
  scene = await openGroupScene();
});
afterAll(() => scene.close());
beforeEach(async () => {
  group = await scene.peopledGroup();
});

const topUp = (params: object, who: Person = scene.platform) =>
  scene.call('group.credits.topup', { group_id: group.id, ...params }, who);
const allocate = (params: object, who: Person = group.admin) =>
  scene.call(
    'group.credits.allocate',
    { group_id: group.id, user_id: group.member.email, ...params },
    who,
  );
const pool = async (who: Person = group.admin) => {
  const { result } = await scene.call('group.credits.balance', { group_id: group.id }, who);
  return rpcMethods['group.credits.balance'].result.parse(result);
};
const wallet = async (who: Person) => {
  const { result } = await scene.call('ledger.self', {}, who);
  return rpcMethods['ledger.self'].result.parse(result);
};

/** People keep their wallets from test to test: a member of their own begins with nothing. */
async function newMember(): Promise<Person> {
  const person = await scene.person('fresh');
  await scene.context.database.members.save(group.id, person.id, {});
  return person;
}

test('points go into the pool and from there to a member, and both sides show it', async () => {
  const member = await newMember();
  expect(await pool()).toEqual({ balance: 0, entries: [] });
  expect((await topUp({ points: 100, note: 'May' })).result).toEqual({ balance: 100 });
  const answer = await allocate({ user_id: member.email.toUpperCase(), points: 30 });
  expect(answer.result).toEqual({ balance: 70, wallet_balance: 30 });
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

test('fifty allocations of 10 at once from a pool of 105: exactly ten succeed', async () => {
  const member = await newMember();
  await topUp({ points: 105 });
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => allocate({ user_id: member.email, points: 10 })),
  );
  expect(answers.filter(({ error }) => error === undefined)).toHaveLength(10);
  const refusals = answers.flatMap(({ error }) => error ?? []);
  expect(refusals).toHaveLength(40);
  for (const refusal of refusals) {
    expect(refusal).toEqual({ code: -32_000, message: 'the pool does not hold so many points' });
  }
  expect((await pool()).balance).toBe(5);
  expect((await wallet(member)).balance).toBe(100);
});

test('fifty top-ups at once add up', async () => {
  await Promise.all(Array.from({ length: 50 }, () => topUp({ points: 7 })));
  expect((await pool()).balance).toBe(350);
});

test('a repeated call with an idempotency key answers the same and moves nothing, also at once', async () => {
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

test('an idempotency key counts within one group', async () => {
  await topUp({ points: 5, idempotency_key: 'k' });
  const other = await scene.peopledGroup();
  const answer = await topUp({ group_id: other.id, points: 9, idempotency_key: 'k' });
  expect(answer.result).toEqual({ balance: 9 });
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
      why: 'the person is no member',
      call: () => allocate({ user_id: scene.outsider.email, points: 1 }),
      code: -32_000,
      message: 'member not found',
    },
    {
      why: 'nobody has the email',
      call: () => allocate({ user_id: 'nobody@example.com', points: 1 }),
      code: -32_000,
      message: 'member not found',
    },
    {
      why: 'the key stands for another amount',
      call: () => topUp({ points: 11, idempotency_key: 'known' }),
      code: -32_000,
      message: 'the idempotency_key was used for another movement',
    },
    {
      why: 'a group owner is no platform admin',
      call: () => topUp({ points: 1 }, group.owner),
      code: -32_007,
      message: expect.stringContaining('group.credits.topup'),
    },
    {
      why: 'the group is not there',
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

test('the admin token is no admin account: it cannot top up', async () => {
  const params = { group_id: group.id, points: 1 };
  const answer = await scene.call('group.credits.topup', params, 'the admin token of the tests');
  expect(answer.error?.code).toBe(-32_005);
});

test('deleting a group moves what is left in its pool to the wallet of the owner', async () => {
  const owner = await scene.person('owner');
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

/** What the next request would be let in by. */
async function hint(type: 'user' | 'group', id: string): Promise<unknown> {
  const answer = await scene.context.bus.admission.admit({
    knownEpoch: Number.MAX_SAFE_INTEGER,
    limits: [],
    account: { type, id },
  });
  return answer.outcome === 'passed' ? answer.account : answer;
}

test('the next request knows of the new balances', async () => {
  const member = await newMember();
  await topUp({ points: 100 });
  expect(await hint('group', group.id)).toMatchObject({ balance: 100, hasHistory: true });
  await allocate({ user_id: member.email, points: 60 });
  expect(await hint('group', group.id)).toMatchObject({ balance: 40 });
  expect(await hint('user', member.id)).toMatchObject({ balance: 60, refusedUntil: null });
});
