import type { AdmissionFacts, AdmissionStore } from '@model-gateway/billing';
import { manualClock, silentLog } from '@model-gateway/kernel';
import type { ReadableFacts } from './quota-facts.ts';
import { createQuotas, type Payer } from './quotas.ts';
import { createUnsettledUsage } from './unsettled-usage.ts';

const NOW = Date.UTC(2026, 1, 28, 23, 59, 30);
const TIER = { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100, rpm: null };
const PAYER: Payer = {
  userId: 'u',
  groupId: null,
  multiplier: 1,
  tier: TIER,
};
const UNKNOWN = { window: undefined, account: undefined };
const drained = { costUsd: 0, tokens: 100, version: 1 };
const empty = { balance: 0, hasHistory: false, refusedUntil: null, version: 0 };

function setup({ window = drained, account = empty } = {}) {
  const clock = manualClock(NOW);
  const state = {
    isUnavailable: false,
    asked: 0,
    recordedAfter: 0,
    learned: [] as AdmissionFacts[],
  };
  const answer = <Fact>(fact: Fact): Promise<Fact> => {
    state.asked += 1;
    return state.isUnavailable ? Promise.reject(new Error('unavailable')) : Promise.resolve(fact);
  };
  const facts: ReadableFacts = {
    window: () => answer(window),
    account: () => answer(account),
    tierOf: () => answer(TIER),
    isRecorded: () => {
      state.recordedAfter -= 1;
      return answer(state.recordedAfter <= 0);
    },
  };
  const store: AdmissionStore = {
    admit: async () => ({ outcome: 'passed', epoch: 0, ...UNKNOWN }),
    updateHints: async (learned) => void state.learned.push(learned),
  };
  const isPriced = (model: string) => model === 'priced';
  const unsettled = createUnsettledUsage(clock);
  const rate = { pointsPerUsd: 100 };
  const quotas = createQuotas({
    store,
    facts,
    unsettled,
    ...rate,
    isPriced,
    clock,
    log: silentLog,
  });
  const serve = (usage: { readonly tokens?: number; readonly cost?: number }) =>
    unsettled.note(eventOf(usage));
  return { clock, state, quotas, serve };
}

test('values that the store lacks are read from the database once, and stored as hints', async () => {
  const { state, quotas } = setup();
  await expect(quotas.assertCovered(PAYER, UNKNOWN, 'priced')).rejects.toMatchObject({
    code: 'quota_exceeded',
    details: { retry_after_secs: 30 },
  });
  expect(state.learned).toEqual([
    { windows: [{ userId: 'u', month: '2026-02', ...drained }], accounts: [] },
    { windows: [], accounts: [{ type: 'user', id: 'u', ...empty }] },
  ]);
});

test('a window that is known not to be drained costs nothing', () => {
  const { state, quotas } = setup();
  const window = { ...drained, tokens: 99 };
  expect(quotas.assertCovered(PAYER, { window, account: undefined }, 'priced')).toBeUndefined();
  expect(state.asked).toBe(0);
});

test('while the database is unavailable no request is refused, and it is not read for a while', async () => {
  const { clock, state, quotas } = setup();
  state.isUnavailable = true;
  await quotas.assertCovered(PAYER, UNKNOWN, 'priced');
  await quotas.assertCovered(PAYER, UNKNOWN, 'priced');
  await quotas.assertUserCovered('u', 'priced');
  expect(state.asked).toBe(1);
  state.isUnavailable = false;
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

test('what was served a moment ago counts, before it is in the books', async () => {
  const { state, quotas, serve } = setup();
  serve({ tokens: 60 });
  state.recordedAfter = 3;
  const behind = { window: { ...drained, tokens: 50 }, account: empty };
  await expect(quotas.assertCovered(PAYER, behind, 'priced')).rejects.toMatchObject({
    code: 'quota_exceeded',
  });
  expect(state.recordedAfter).toBe(0);
});

test('what was served longer ago has been counted', () => {
  const { clock, quotas, serve } = setup();
  serve({ tokens: 60 });
  clock.advance(2_000);
  const counted = { window: { ...drained, tokens: 50 }, account: empty };
  expect(quotas.assertCovered(PAYER, counted, 'priced')).toBeUndefined();
});

test('a user with plenty of points does not wait on a drained tier', async () => {
  const { state, quotas, serve } = setup();
  serve({ cost: 0.1 });
  const rich = { window: drained, account: { ...empty, balance: 11, hasHistory: true } };
  await quotas.assertCovered(PAYER, rich, 'priced');
  expect(state.asked).toBe(0);
  const poor = { ...rich, account: { ...rich.account, balance: 10 } };
  await expect(quotas.assertCovered(PAYER, poor, 'priced')).rejects.toMatchObject({
    code: 'quota_exceeded',
  });
});

function eventOf({ tokens = 0, cost = 0 }: { readonly tokens?: number; readonly cost?: number }) {
  return {
    id: 'e',
    user_id: 'u',
    key_id: 'k',
    api_key_id: 'service-',
    project: 'default',
    group_id: null,
    multiplier: 1,
    model: 'priced',
    backend: 'gateway',
    prompt_tokens: tokens,
    completion_tokens: 0,
    total_tokens: tokens,
    cost,
    ref_id: null,
    created_at: new Date(NOW).toISOString(),
  };
}
