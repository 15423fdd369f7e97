import { decideBudget } from './budget-decision.ts';

test.each([
  { why: 'no budget', budget: null, spent: 9, decision: 'admit' },
  { why: 'unknown usage', budget: 1, spent: undefined, decision: 'admit' },
  { why: 'something left', budget: 1, spent: 0.99, decision: 'admit' },
  { why: 'nothing left', budget: 1, spent: 1, decision: 'budget_exceeded' },
  { why: 'a budget of nothing', budget: 0, spent: 0, decision: 'budget_exceeded' },
  {
    why: 'used and not settled',
    budget: 1,
    spent: 0.5,
    unsettled: 0.5,
    decision: 'budget_exceeded',
  },
  {
    why: 'unknown, reserved',
    budget: 1,
    spent: undefined,
    reserved: 1,
    decision: 'budget_reserved',
  },
  { why: 'reserved', budget: 1, spent: 0.5, reserved: 0.5, decision: 'budget_reserved' },
  { why: 'ten times 0.1', budget: 1, spent: 0.9999999999999999, decision: 'budget_exceeded' },
])('$why: $decision', ({ budget, spent, unsettled = 0, reserved = unsettled, decision }) => {
  const usage = spent === undefined ? undefined : { costUsd: spent };
  expect(decideBudget(budget, usage, { reservedUsd: reserved, unsettledUsd: unsettled })).toBe(
    decision,
  );
});
