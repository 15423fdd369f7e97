import type { UsageEvent } from '@model-gateway/contracts';
import * as fc from 'fast-check';
import { FREE_TIER } from '../admission/admission-decision.ts';
import { accountOf, settle, type SettledAccount, type SettlementInput } from './settlement.ts';

let serial = 0;
const event = (values: Partial<UsageEvent> = {}): UsageEvent => {
  serial += 1;
  return {
    id: `row-${serial}`,
    user_id: 'u',
    key_id: 'k',
    api_key_id: 'service-',
    project: 'default',
    group_id: null,
    model: 'm',
    backend: 'gateway',
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: 2,
    cost: 0.1,
    multiplier: 1,
    ref_id: null,
    created_at: '2026-03-04T05:06:07.890Z',
    ...values,
  };
};

const wallet = (balance: number): SettledAccount => ({ type: 'user', id: 'u', balance });
const march = { userId: 'u', month: '2026-03' };
const drained = { ...march, costUsd: 1, tokens: 0 };

const settleThese = (events: readonly UsageEvent[], known: Partial<SettlementInput> = {}) =>
  settle({
    events,
    accounts: [],
    windows: [],
    tiers: new Map([['u', FREE_TIER]]),
    pointsPerUsd: 100,
    ...known,
  });

const pointsOf = (events: readonly UsageEvent[], known: Partial<SettlementInput> = {}) =>
  settleThese(events, known).rows.map(({ points }) => points);

test.each([
  { why: 'no price', of: { cost: null }, points: null },
  { why: 'a cost of 0', of: { cost: 0 }, points: null },
  { why: 'less than half a point', of: { cost: 0.0049 }, points: null },
  { why: 'half a point', of: { cost: 0.005 }, points: 1 },
  { why: 'half a point that is a little less in binary', of: { cost: 0.145 }, points: 15 },
  { why: 'half a point by its multiplier', of: { cost: 0.29, multiplier: 0.5 }, points: 15 },
  { why: 'ten cents', of: { cost: 0.1 }, points: 10 },
  { why: 'a multiplier of 0', of: { cost: 0.1, multiplier: 0 }, points: null },
  { why: 'a multiplier of 1.5', of: { cost: 0.1, multiplier: 1.5 }, points: 15 },
  { why: 'exactly what is there', of: { cost: 1 }, points: 100 },
  { why: 'a point more than there is', of: { cost: 1.01 }, points: null },
])('a wallet of 100 on a tier that is not drained pays for $why: $points', ({ of, points }) => {
  const settled = settleThese([event(of)], { accounts: [wallet(100)] });
  expect(settled.rows[0]).toMatchObject({ points, accountType: points === null ? null : 'user' });
  expect(settled.accounts).toEqual(points === null ? [] : [wallet(100 - points)]);
  expect(settled.movements).toHaveLength(points === null ? 0 : 1);
});

test.each([
  { why: 'no price', of: { cost: null }, points: null, refused: false },
  { why: 'a cost of 0', of: { cost: 0 }, points: null, refused: false },
  { why: 'less than half a point', of: { cost: 0.0001 }, points: 1, refused: false },
  { why: 'a multiplier of 0', of: { cost: 0.1, multiplier: 0 }, points: 1, refused: false },
  { why: 'a point more than there is', of: { cost: 1.01 }, points: null, refused: true },
])('a wallet of 100 on a drained tier pays for $why: $points', ({ of, points, refused }) => {
  const known = { accounts: [wallet(100)], windows: [drained] };
  const settled = settleThese([event(of)], known);
  expect(settled.rows[0]).toMatchObject({ points });
  expect(settled.accounts).toEqual(points === null ? [] : [wallet(100 - points)]);
  const member = { ...march, account: { type: 'user', id: 'u' } };
  expect(settled.refused).toEqual(refused ? [member] : []);
});

test('each member whose request a pool could not cover is refused on it, in the month of that request', () => {
  const pool = { type: 'group', id: 'g' } as const;
  const large = { cost: 5, group_id: 'g' };
  const february = { month: '2026-02', costUsd: 1, tokens: 0 };
  const late = { ...large, created_at: '2026-02-28T23:59:59.999Z' };
  const events = [
    event(late),
    event(late),
    event({ ...late, user_id: 'v' }),
    event({ ...late, cost: 0.5, user_id: 'w' }),
  ];
  const settled = settleThese(events, {
    accounts: [{ ...pool, balance: 100 }],
    windows: ['u', 'v', 'w'].map((userId) => ({ userId, ...february })),
  });
  expect(settled.refused).toEqual(
    ['u', 'v'].map((userId) => ({ userId, month: '2026-02', account: pool })),
  );
  // Others go on.
  expect(settled.rows.map(({ points }) => points)).toEqual([null, null, null, 50]);
});

test('a missing account is neither charged nor refused', () => {
  const settled = settleThese([event({ cost: 5 })], { windows: [drained] });
  expect(settled).toMatchObject({
    rows: [{ points: null }],
    movements: [],
    accounts: [],
    refused: [],
  });
});

test('events are settled in order, each on what the one before it left', () => {
  const events = [0.6, 0.6, 0.3, 0.2, 0.1].map((cost) => event({ cost }));
  const settled = settleThese(events, { accounts: [wallet(100)] });
  expect(settled.rows.map(({ points }) => points)).toEqual([60, null, 30, null, 10]);
  expect(settled.movements.map(({ rowId, balanceAfter }) => [rowId, balanceAfter])).toEqual([
    [events[0]?.id, 40],
    [events[2]?.id, 10],
    [events[4]?.id, 0],
  ]);
  expect(settled.accounts).toEqual([wallet(0)]);
});

test('what the tier paid for counts against it within the batch', () => {
  const expensive = event({ cost: 3 });
  const tiny = () => event({ cost: 0.0001 });
  // The first finds a tier with something left and a wallet that is too small; the tier is drained after it.
  expect(pointsOf([tiny(), expensive, tiny()], { accounts: [wallet(5)] })).toEqual([null, null, 1]);
});

test('every request counts against the window of the whole user, whatever its project label', () => {
  const known = { accounts: [wallet(5)], windows: [drained] };
  const tiny = (values: Partial<UsageEvent>) => event({ cost: 0.0001, ...values });
  const events = [{ project: 'shop' }, { project: 'other' }, {}, { key_id: null, project: null }];
  expect(pointsOf(events.map(tiny), known)).toEqual([1, 1, 1, 1]);
});

test('the month of an event is the one in which it was completed', () => {
  const known = { accounts: [wallet(5)], windows: [drained] };
  const at = (created_at: string) => event({ cost: 0.0001, created_at });
  const events = ['2026-02-28T23:59:59.999Z', '2026-03-31T23:59:59.999Z', '2026-04-01T00:00:00Z'];
  expect(pointsOf(events.map(at), known)).toEqual([null, 1, null]);
});

test('a charge that a row cannot hold is as much as a row can hold', () => {
  const settled = settleThese([event({ cost: Number.MAX_VALUE })], { accounts: [wallet(1e12)] });
  expect(settled.accounts).toEqual([wallet(1e12 - 2_147_483_647)]);
});

test('whatever comes in whatever order, points are conserved, no balance is negative, and every event is one row', () => {
  const anEvent = fc.record({
    user_id: fc.constantFrom('u', 'v'),
    group_id: fc.constantFrom(null, 'g'),
    project: fc.constantFrom('default', 'shop'),
    cost: fc.oneof(fc.constant(null), fc.constant(0), fc.double({ min: 0, max: 3, noNaN: true })),
    multiplier: fc.constantFrom(0, 0.5, 1, 1.5),
    total_tokens: fc.nat(60_000),
    created_at: fc.constantFrom('2026-03-31T23:59:59Z', '2026-04-01T00:00:00Z'),
  });
  const balances = fc.record({ u: fc.nat(500), v: fc.nat(500), g: fc.nat(500) });
  fc.assert(
    fc.property(fc.array(anEvent, { maxLength: 60 }), balances, (values, balance) => {
      const accounts: SettledAccount[] = [
        { type: 'user', id: 'u', balance: balance.u },
        { type: 'user', id: 'v', balance: balance.v },
        { type: 'group', id: 'g', balance: balance.g },
      ];
      const events = values.map((one) => event(one));
      const { rows, movements, accounts: changed } = settleThese(events, { accounts });
      expect(rows.map((row) => row.event)).toEqual(events);
      for (const before of accounts) {
        const isIts = (one: UsageEvent) => accountOf(one).id === before.id;
        const after = changed.find(({ id }) => id === before.id) ?? before;
        const paid = rows.filter((row) => isIts(row.event)).map(({ points }) => points ?? 0);
        const moved = movements.filter(({ account }) => account.id === before.id);
        expect(before.balance - sum(paid)).toBe(after.balance);
        expect(sum(moved.map(({ points }) => points))).toBe(sum(paid));
        expect(moved.at(-1)?.balanceAfter ?? before.balance).toBe(after.balance);
        expect(
          Math.min(after.balance, ...moved.map((each) => each.balanceAfter)),
        ).toBeGreaterThanOrEqual(0);
      }
    }),
  );
});

test('a batch settles as its parts do one after another', () => {
  const costs = fc.array(fc.double({ min: 0, max: 0.4, noNaN: true }), { maxLength: 30 });
  fc.assert(
    fc.property(costs, fc.nat(300), fc.nat(30), (values, balance, cut) => {
      const events = values.map((cost) => event({ cost }));
      const whole = settleThese(events, { accounts: [wallet(balance)] });
      const first = settleThese(events.slice(0, cut), { accounts: [wallet(balance)] });
      const onTier = first.rows.filter(({ points }) => points === null);
      const second = settleThese(events.slice(cut), {
        accounts: first.accounts.length > 0 ? first.accounts : [wallet(balance)],
        windows: [
          {
            ...march,
            costUsd: sum(onTier.map((row) => row.event.cost ?? 0)),
            tokens: 2 * onTier.length,
          },
        ],
      });
      expect([...first.rows, ...second.rows]).toEqual(whole.rows);
    }),
  );
});

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);
