import type { AdmissionFacts, AdmissionStore, BillingFacts } from '@model-gateway/billing';
import { manualClock, silentLog } from '@model-gateway/kernel';
import { createQuotas, type Payer } from './quotas.ts';

const NOW = Date.UTC(2026, 1, 28, 23, 59, 30);
const TIER = { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100, rpm: null };
const PAYER: Payer = { userId: 'u', keyId: 'k', project: 'default', groupId: null, tier: TIER };
const UNKNOWN = { window: undefined, account: undefined };
const drained = { costUsd: 0, tokens: 100, version: 1 };
const empty = { balance: 0, hasHistory: false, refusedUntil: null, version: 0 };

function setup({ window = drained, account = empty } = {}) {
  const clock = manualClock(NOW);
  const state = { isAway: false, asked: 0, learned: [] as AdmissionFacts[] };
  const answer = <Fact>(fact: Fact): Promise<Fact> => {
    state.asked += 1;
    return state.isAway ? Promise.reject(new Error('away')) : Promise.resolve(fact);
  };
  const facts: Pick<BillingFacts, 'window' | 'account' | 'tierOf'> = {
    window: () => answer(window),
    account: () => answer(account),
    tierOf: () => answer(TIER),
  };
  const store: AdmissionStore = {
    admit: async () => ({ outcome: 'passed', epoch: 0, ...UNKNOWN }),
    learn: async (learned) => void state.learned.push(learned),
  };
  const isPriced = (model: string) => model === 'priced';
  const quotas = createQuotas({ store, facts, isPriced, clock, log: silentLog });
  return { clock, state, quotas };
}

test('what the store does not know is asked of the database once, and noted', async () => {
  const { state, quotas } = setup();
  await expect(quotas.assertCovered(PAYER, UNKNOWN, 'priced')).rejects.toMatchObject({
    code: 'quota_exceeded',
    details: { retry_after_secs: 30 },
  });
  expect(state.learned).toEqual([
    { windows: [{ userId: 'u', project: null, month: '2026-02', ...drained }], accounts: [] },
    { windows: [], accounts: [{ type: 'user', id: 'u', ...empty }] },
  ]);
});

test('a window that is known not to be drained costs nothing', () => {
  const { state, quotas } = setup();
  const window = { ...drained, tokens: 99 };
  expect(quotas.assertCovered(PAYER, { window, account: undefined }, 'priced')).toBeUndefined();
  expect(state.asked).toBe(0);
});

test('while the database is away nobody is refused, and it is left in peace for a while', async () => {
  const { clock, state, quotas } = setup();
  state.isAway = true;
  await quotas.assertCovered(PAYER, UNKNOWN, 'priced');
  await quotas.assertCovered(PAYER, UNKNOWN, 'priced');
  await quotas.assertUserCovered('u', 'priced');
  expect(state.asked).toBe(1);
  state.isAway = false;
  clock.advance(2_000);
  await expect(quotas.assertCovered(PAYER, UNKNOWN, 'priced')).rejects.toMatchObject({
    code: 'quota_exceeded',
  });
});

test('a user with points is served what has a price', async () => {
  const { quotas } = setup({ account: { ...empty, balance: 1, hasHistory: true } });
  await quotas.assertUserCovered('u', 'priced');
  await expect(quotas.assertUserCovered('u', 'other')).rejects.toMatchObject({
    code: 'payment_required',
  });
});
