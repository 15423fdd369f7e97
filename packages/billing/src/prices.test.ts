import { costOf, priceOf } from './prices.ts';

test.each([
  ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
  ['openai/GPT-4o', 'gpt-4o'],
  ['gpt-4.1-nano', 'gpt-4.1-nano'],
  ['command-r-plus', 'command-r-plus'],
])('the longest pattern contained in %s is %s', (model, pattern) => {
  expect(priceOf(model)?.pattern).toBe(pattern);
});

test('a model without a price has no cost, not a cost of zero', () => {
  expect(costOf('demo-chat', { prompt_tokens: 10, completion_tokens: 10 })).toBeNull();
});

test('cost is tokens times the price per million', () => {
  expect(costOf('gpt-4o', { prompt_tokens: 1_000_000, completion_tokens: 500_000 })).toBe(2.5 + 5);
  expect(
    costOf('text-embedding-3-small', { prompt_tokens: 1000, completion_tokens: 0 }),
  ).toBeCloseTo(0.00002, 12);
});
