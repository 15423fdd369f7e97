import type { User } from '@model-gateway/accounts';
import type { SpendFilter, SpendQueries } from '@model-gateway/billing';
import { manualClock } from '@model-gateway/kernel';
import { createSummarizeSpend } from './spend-summary.ts';

const NOW = '2026-03-14T09:26:53.589Z';
const USER: User = { id: 'user-1', email: 'a@example.com', name: '', isAdmin: false };
const NOTHING = {
  requests: 0,
  errors: 0,
  failed: 0,
  cancelled: 0,
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  points: 0,
};

/** What the store is asked, and what is answered. */
async function ask(period: { readonly from?: Date; readonly to?: Date }) {
  const asked: SpendFilter[] = [];
  const spend: Pick<SpendQueries, 'summary'> = {
    async summary(filter) {
      asked.push(filter);
      return { groups: [], total: NOTHING };
    },
  };
  const groups = { authorizeReading: () => Promise.reject(new Error('not asked for')) };
  const clock = manualClock(Date.parse(NOW));
  const summarize = createSummarizeSpend({ spend, groups, clock });
  const { from, to } = await summarize({ scope: 'self', group_by: 'user', ...period }, USER);
  const [filter] = asked;
  return {
    shown: [from, to],
    read: [filter?.since.toISOString(), filter?.until.toISOString()],
  };
}

test('a period until now is read to the end of the day, whose sums are kept', async () => {
  const begin = '2026-02-13T00:00:00.000Z';
  expect(await ask({})).toEqual({
    shown: [begin, NOW],
    read: [begin, '2026-03-15T00:00:00.000Z'],
  });
});

test.each([
  { why: 'in the past', to: '2026-03-14T09:26:53.588Z', until: '2026-03-14T09:26:53.588Z' },
  { why: 'in this hour', to: '2026-03-14T10:00:00.000Z', until: '2026-03-15T00:00:00.000Z' },
  { why: 'a day', to: '2026-03-15T00:00:00.000Z', until: '2026-03-15T00:00:00.000Z' },
  { why: 'in the future', to: '2026-03-20T01:00:00.000Z', until: '2026-03-21T00:00:00.000Z' },
])('an end $why is read until $until', async ({ to, until }) => {
  const from = '2026-03-13T10:00:00.000Z';
  const { shown, read } = await ask({ from: new Date(from), to: new Date(to) });
  expect(shown).toEqual([from, to]);
  expect(read).toEqual([from, until]);
});
