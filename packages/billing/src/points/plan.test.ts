import { planOf, type PlanStanding } from './plan.ts';

const TIERS = [
  { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100_000, rpm: 10 },
  { name: 'tokens', monthlyUsdQuota: null, monthlyTokenQuota: 1000, rpm: null },
  { name: 'enterprise', monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: 1000 },
];

const standing = (tierName: string, costUsd: number, tokens: number): PlanStanding => ({
  tierName,
  usage: { costUsd, tokens, requests: 1 },
  pointsBalance: 0,
});

test.each([
  { tier: 'free', cost: 0, tokens: 0, left: { costUsd: 1, tokens: 100_000 }, exceeded: false },
  { tier: 'free', cost: 0.7, tokens: 1, left: { costUsd: 0.3, tokens: 99_999 }, exceeded: false },
  { tier: 'free', cost: 1, tokens: 1, left: { costUsd: 0, tokens: 99_999 }, exceeded: true },
  { tier: 'free', cost: 5, tokens: 200_000, left: { costUsd: 0, tokens: 0 }, exceeded: true },
  { tier: 'free', cost: 0, tokens: 100_000, left: { costUsd: 1, tokens: 0 }, exceeded: true },
  { tier: 'tokens', cost: 99, tokens: 999, left: { costUsd: null, tokens: 1 }, exceeded: false },
  { tier: 'tokens', cost: 0, tokens: 1000, left: { costUsd: null, tokens: 0 }, exceeded: true },
  {
    tier: 'enterprise',
    cost: 1e6,
    tokens: 1e12,
    left: { costUsd: null, tokens: null },
    exceeded: false,
  },
])(
  'on $tier, $cost USD and $tokens tokens leave $left',
  ({ tier, cost, tokens, left, exceeded }) => {
    expect(planOf(TIERS, standing(tier, cost, tokens))).toEqual({
      currentTier: tier,
      remaining: left,
      isQuotaExceeded: exceeded,
    });
  },
);

test('an unknown tier is the free one', () => {
  expect(planOf([], standing('gone', 0.25, 0))).toMatchObject({
    currentTier: 'free',
    remaining: { costUsd: 0.75 },
  });
});
