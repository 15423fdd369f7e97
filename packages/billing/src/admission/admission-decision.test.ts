import type { AccountRefusal } from './admission-store.ts';
import { decideAdmission, FREE_TIER, isDrained, NOTHING_RESERVED } from './admission-decision.ts';

const fresh = { costUsd: 0.99, tokens: 99_999 };
const drained = { costUsd: 1, tokens: 0 };
const drawingAccount = { type: 'group', id: 'g' } as const;
const account = { balance: 5, hasHistory: true, increases: 2 };
const empty = { balance: 0, hasHistory: true, increases: 0 };
const unopened = { balance: 0, hasHistory: false, increases: 0 };
/** The window of a user whom these accounts refused. */
const refusedBy = (...refusals: readonly AccountRefusal[]) => ({ ...drained, refusals });
const wallet = { type: 'user', id: 'g' } as const;
const refused = refusedBy({ account: drawingAccount, increases: 2 });
const refusedElsewhere = refusedBy({ account: wallet, increases: 2 });
const grown = refusedBy({ account: drawingAccount, increases: 1 });

const still = { reserved: NOTHING_RESERVED, drawingAccount, points: 0 };

test.each([
  { why: 'the tier is not drained', window: fresh, account: unopened, decision: 'admit' },
  { why: 'the usage is not known', window: undefined, account: empty, decision: 'admit' },
  { why: 'the account is not known', window: drained, account: undefined, decision: 'admit' },
  { why: 'the wallet is funded', window: drained, account, decision: 'admit' },
  { why: 'another account refused', window: refusedElsewhere, account, decision: 'admit' },
  { why: 'the account has grown since it refused', window: grown, account, decision: 'admit' },
  {
    why: 'the account was never funded',
    window: drained,
    account: unopened,
    decision: 'quota_exceeded',
  },
  { why: 'the points are spent', window: drained, account: empty, decision: 'payment_required' },
  { why: 'the account refused', window: refused, account, decision: 'payment_required' },
])('when $why: $decision', ({ window, account: state, decision }) => {
  expect(
    decideAdmission({ tier: FREE_TIER, window, account: state, isPriced: true, ...still }),
  ).toBe(decision);
});

test.each([
  { points: 0, balance: 0, decision: 'payment_required' },
  { points: 0, balance: 1, decision: 'admit' },
  { points: 5, balance: 5, decision: 'admit' },
  { points: 6, balance: 5, decision: 'payment_required' },
])('on a drained tier $balance points for a request of $points: $decision', (row) => {
  const { points, balance, decision } = row;
  const state = { tier: FREE_TIER, window: drained, isPriced: true, ...still, points };
  expect(decideAdmission({ ...state, account: { ...account, balance } })).toBe(decision);
});

test.each([
  { why: 'a funded wallet', account, decision: 'payment_required' },
  { why: 'an empty one', account: empty, decision: 'payment_required' },
  { why: 'none', account: unopened, decision: 'quota_exceeded' },
])('a model without a price on a drained tier, with $why: $decision', (row) => {
  const state = {
    tier: FREE_TIER,
    window: drained,
    account: row.account,
    isPriced: false,
    ...still,
  };
  expect(decideAdmission(state)).toBe(row.decision);
});

test('a model without a price passes as long as the tier has something left', () => {
  const state = { tier: FREE_TIER, window: fresh, account: unopened, isPriced: false, ...still };
  expect(decideAdmission(state)).toBe('admit');
});

test.each([
  { usage: { costUsd: 0.99, tokens: 0 }, is: false },
  { usage: { costUsd: 1, tokens: 0 }, is: true },
  {
    usage: { costUsd: 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1 + 0.1, tokens: 0 },
    is: true,
  },
  { usage: { costUsd: 0, tokens: 99_999 }, is: false },
  { usage: { costUsd: 0, tokens: 100_000 }, is: true },
])('the free tier with $usage used is drained: $is', ({ usage, is }) => {
  expect(isDrained(FREE_TIER, usage)).toBe(is);
});

test('a tier without quotas is never drained, and one with quotas of zero always is', () => {
  const unlimited = { monthlyUsdQuota: null, monthlyTokenQuota: null };
  expect(isDrained(unlimited, { costUsd: 1e9, tokens: 1e12 })).toBe(false);
  expect(isDrained({ ...unlimited, monthlyTokenQuota: 0 }, { costUsd: 0, tokens: 0 })).toBe(true);
  expect(isDrained({ ...unlimited, monthlyUsdQuota: 0 }, { costUsd: 0, tokens: 0 })).toBe(true);
});

const free = { ...FREE_TIER, monthlyUsdQuota: 1, monthlyTokenQuota: 100 };
const none = NOTHING_RESERVED;

test.each([
  { why: 'others reserve less than is left', reserved: { ...none, tokens: 9 }, decision: 'admit' },
  {
    why: 'others reserve all tokens',
    reserved: { ...none, tokens: 10 },
    decision: 'quota_reserved',
  },
  {
    why: 'others reserve all USD',
    reserved: { ...none, costUsd: 0.5 },
    decision: 'quota_reserved',
  },
])('of 90 tokens of 100 and 0.5 USD of 1, when $why: $decision', ({ reserved, decision }) => {
  const window = { tokens: 90, costUsd: 0.5 };
  const state = { tier: free, window, account: unopened, isPriced: true, ...still };
  expect(decideAdmission({ ...state, reserved })).toBe(decision);
});

test.each([
  { why: 'points are left', points: 4, isPriced: true, decision: 'admit' },
  { why: 'others reserve too many points', points: 5, isPriced: true, decision: 'quota_reserved' },
  { why: 'the model has no price', points: 0, isPriced: false, decision: 'quota_reserved' },
])('when others reserve the tier and $why: $decision', ({ points, isPriced, decision }) => {
  const reserved = { tokens: 100, costUsd: 0, points };
  const window = { tokens: 0, costUsd: 0 };
  const state = { tier: free, window, account, isPriced, ...still, reserved };
  expect(decideAdmission(state)).toBe(decision);
});

test.each([
  { why: 'the usage is not known', window: undefined, account: unopened },
  { why: 'neither usage nor account are known', window: undefined, account: undefined },
  { why: 'the account is not known', window: { tokens: 90, costUsd: 0 }, account: undefined },
  { why: 'the tier is drained, the account not known', window: drained, account: undefined },
])('when $why, what others reserve refuses', ({ window, account: state }) => {
  const asked = { tier: free, window, account: state, isPriced: true, ...still };
  expect(decideAdmission({ ...asked, reserved: none })).toBe('admit');
  expect(decideAdmission({ ...asked, reserved: { ...none, tokens: 100 } })).toBe('quota_reserved');
});

test('what is used up is reported as such, whatever is reserved', () => {
  const state = { tier: free, window: drained, account: unopened, isPriced: true, ...still };
  const reserved = { tokens: 1000, costUsd: 9, points: 9 };
  expect(decideAdmission({ ...state, reserved })).toBe('quota_exceeded');
});
