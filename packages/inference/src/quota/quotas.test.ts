import {
  NOTHING_RESERVED,
  type AdmissionFacts,
  type AdmissionRequest,
  type AdmissionStore,
  type ReservationEnd,
} from '@model-gateway/billing';
import { manualClock, silentLog } from '@model-gateway/kernel';
import type { AdmissionModel } from './model-prices.ts';
import type { ReadableFacts } from './quota-facts.ts';
import type { Payer } from './payer.ts';
import { createQuotas, type AdmittedAnswer, type Quotas } from './quotas.ts';
import { admit } from '../call/admit.ts';
import { callOfUser } from '../call/grants.ts';

const NOW = Date.UTC(2026, 1, 28, 23, 59, 30);
const TIER = { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100, rpm: null };
const PAYER: Payer = {
  userId: 'u',
  groupId: null,
  multiplier: 1,
  tier: TIER,
};
const ADMITTED = {
  outcome: 'admitted',
  epoch: 0,
  reserved: NOTHING_RESERVED,
  unsettled: { tokens: 0, costUsd: 0 },
  hasBegun: true,
  counted: [],
} as const;
const SIXTY = { tokens: 60, costUsd: 0 };
const UNKNOWN = { window: undefined, account: undefined };
const priced = { model: 'priced', expected: () => ({ promptTokens: 1, completionTokens: 1 }) };
const drained = { costUsd: 0, tokens: 100, version: 1 };
const empty = { balance: 0, hasHistory: false, increases: 0, version: 0 };

function setup({ window = drained, account = empty } = {}) {
  const clock = manualClock(NOW);
  const state = {
    isUnavailable: false,
    asked: 0,
    /** The answers of the store to requests that ask again. */
    answers: [] as AdmittedAnswer[],
    learned: [] as AdmissionFacts[],
    requested: [] as AdmissionRequest[],
    ended: [] as ReservationEnd[],
  };
  const answer = <Fact>(fact: Fact): Promise<Fact> => {
    state.asked += 1;
    return state.isUnavailable ? Promise.reject(new Error('unavailable')) : Promise.resolve(fact);
  };
  const facts: ReadableFacts = {
    window: () => answer(window),
    account: () => answer(account),
    budget: async () => ({ costUsd: 0, version: 0 }),
    tierOf: () => answer(TIER),
    payingUser: async () => ({ email: 'ann@example.com', isAdmin: false }),
  };
  const store: AdmissionStore = {
    admit: async (request) => {
      state.requested.push(request);
      return state.answers.shift() ?? { ...ADMITTED, ...UNKNOWN };
    },
    endCall: (end) => void state.ended.push(end),
    updateHints: async (learned) => void state.learned.push(learned),
  };
  const prices = {
    expect: ({ model }: AdmissionModel) => ({
      costUsd: model === 'priced' ? 0.01 : 0,
      isPriced: model === 'priced',
    }),
    isPriced: ({ model }: AdmissionModel) => model === 'priced',
  };
  const rate = { pointsPerUsd: 100 };
  const quotas = createQuotas({
    store,
    facts,
    ...rate,
    prices,
    callsPerUserMax: 500,
    clock,
    log: silentLog,
  });
  const cover = (
    known: Pick<AdmittedAnswer, 'window' | 'account'> & Partial<AdmittedAnswer>,
    reserved = NOTHING_RESERVED,
  ) =>
    quotas.assertCovered(
      PAYER,
      quotas.requestReservation(PAYER, priced),
      { ...ADMITTED, reserved, ...known },
      { model: 'priced' },
    );
  return { clock, state, quotas, cover };
}

/** Admits a call of a signed-in user. */
const admitUser = (quotas: Quotas, userId = 'u', model = priced.model) =>
  admit(
    callOfUser({ userId, surface: 'rpc', refId: null }, quotas),
    { read: async () => ({ model }), expected: priced.expected },
    { quotas, router: { aliases: { resolve: (name) => name }, targetsOf: () => [] } },
  );

test('values that the store lacks are read from the database once, and stored as hints', async () => {
  const { state, cover } = setup();
  await expect(cover(UNKNOWN)).rejects.toMatchObject({
    code: 'quota_exceeded',
    details: { retry_after_secs: 30 },
  });
  expect(state.learned).toEqual([
    { windows: [{ userId: 'u', month: '2026-02', ...drained }], accounts: [] },
    { windows: [], accounts: [{ type: 'user', id: 'u', ...empty }] },
  ]);
});

test('a window that is known not to be drained costs nothing', () => {
  const { state, cover } = setup();
  const window = { ...drained, tokens: 99 };
  expect(cover({ window, account: undefined })).toBeUndefined();
  expect(state.asked).toBe(0);
});

test('while the database is unavailable no request is refused, and it is not read for a while', async () => {
  const { clock, state, quotas, cover } = setup();
  state.isUnavailable = true;
  await cover(UNKNOWN);
  await cover(UNKNOWN);
  expect(state.asked).toBe(1);
  // A tier is read in any case: without it there would be no limit at all.
  await admitUser(quotas);
  expect(state.asked).toBe(2);
  state.isUnavailable = false;
  clock.advance(2_000);
  await expect(cover(UNKNOWN)).rejects.toMatchObject({
    code: 'quota_exceeded',
  });
});

test('while the database is unavailable, what others reserve refuses', async () => {
  const { state, cover } = setup();
  state.isUnavailable = true;
  await expect(cover(UNKNOWN, { ...NOTHING_RESERVED, tokens: 100 })).rejects.toMatchObject({
    code: 'quota_reserved',
  });
});

test('while the database is unavailable, the last known tier limits a user, and an unknown one reserves', async () => {
  const { state, quotas } = setup({ window: { ...drained, tokens: 0 } });
  await admitUser(quotas);
  state.isUnavailable = true;
  await admitUser(quotas);
  await admitUser(quotas, 'v');
  const tokens = { tokens: 2 };
  expect(state.requested.map(({ call }) => call?.reservation)).toMatchObject([
    { ...tokens, tier: TIER },
    { ...tokens, tier: TIER },
    { ...tokens, tier: { monthlyTokenQuota: null } },
  ]);
});

test('a user with points is served what has a price', async () => {
  const { quotas } = setup({ account: { ...empty, balance: 1, hasHistory: true } });
  await admitUser(quotas);
  await expect(admitUser(quotas, 'u', 'other')).rejects.toMatchObject({
    code: 'payment_required',
  });
});

test('what was served a moment ago and is not settled yet refuses after it is settled', async () => {
  const { state, cover } = setup();
  const behind = { ...ADMITTED, hasBegun: false, account: empty };
  const unsettled = { reserved: { tokens: 60, costUsd: 0, points: 0 }, unsettled: SIXTY };
  const before = { ...behind, ...unsettled, window: { ...drained, tokens: 50 } };
  state.answers = [before, before, { ...behind, window: { ...drained, tokens: 110 } }];
  await expect(cover(before)).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(state.answers).toEqual([]);
  expect(state.asked).toBe(0);
});

test('what was served a moment ago and is paid with points refuses nothing once it is settled', async () => {
  const { state, cover } = setup();
  const account = { ...empty, balance: 3, hasHistory: true };
  const behind = { ...ADMITTED, hasBegun: false, account };
  const unsettled = { reserved: { tokens: 60, costUsd: 0, points: 3 }, unsettled: SIXTY };
  const before = { ...behind, ...unsettled, window: { ...drained, tokens: 50 } };
  const after = { ...ADMITTED, account, window: { ...drained, tokens: 110 } };
  state.answers = [before, after];
  await cover(before);
  expect(state.requested).toHaveLength(2);
});

test('what is not settled in time refuses softly', async () => {
  const { state, cover } = setup();
  const unsettled = { reserved: { tokens: 60, costUsd: 0, points: 0 }, unsettled: SIXTY };
  const window = { ...drained, tokens: 50 };
  const before = { ...ADMITTED, ...unsettled, hasBegun: false, account: empty, window };
  state.answers = Array.from({ length: 100 }, () => before);
  await expect(cover(before)).rejects.toMatchObject({ code: 'quota_reserved' });
});

test('a user with plenty of points does not wait on a drained tier', async () => {
  const { state, cover } = setup();
  const unsettled = { reserved: { tokens: 60, costUsd: 0.1, points: 10 }, unsettled: SIXTY };
  const account = { ...empty, balance: 11, hasHistory: true };
  await cover({ ...ADMITTED, ...unsettled, window: drained, account });
  expect(state.requested).toEqual([]);
  expect(state.asked).toBe(0);
});

test('what others reserve refuses a request softly, and what it reserves itself does not', async () => {
  const { cover } = setup();
  const known = { window: { ...drained, tokens: 90 }, account: empty };
  expect(cover(known, { ...NOTHING_RESERVED, tokens: 9 })).toBeUndefined();
  await expect(cover(known, { ...NOTHING_RESERVED, tokens: 10 })).rejects.toMatchObject({
    code: 'quota_reserved',
    details: { retry_after_secs: 5 },
  });
});

test('a refused request of a user ends its call', async () => {
  const { state, quotas } = setup();
  await expect(admitUser(quotas)).rejects.toMatchObject({ code: 'quota_exceeded' });
  const begun = state.requested.map(({ call }) => call?.id);
  expect(state.ended.map(({ id }) => id)).toEqual(begun);
});

test('a request reserves its tokens, its cost, and at least a point where it has a cost', async () => {
  const { quotas } = setup();
  expect(quotas.requestReservation(PAYER, priced).reservation).toMatchObject({
    tokens: 2,
    costUsd: 0.01,
    points: 1,
    account: { type: 'user', id: 'u' },
  });
  const unlimited = { ...PAYER, tier: { ...TIER, monthlyUsdQuota: null, monthlyTokenQuota: null } };
  expect(quotas.requestReservation(unlimited, priced).reservation).toBeUndefined();
});
