import { readCachedTokens, readUsage } from './read-usage.ts';

const whole = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

test.each([
  { what: 'everything', usage: whole, read: whole },
  { what: 'no total', usage: { prompt_tokens: 3, completion_tokens: 2 }, read: whole },
  {
    what: 'no completion',
    usage: { prompt_tokens: 3, completion_tokens: null },
    read: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 },
  },
  { what: 'more', usage: { ...whole, prompt_tokens_details: {} }, read: whole },
])('usage with $what is parsed', ({ usage, read }) => {
  expect(readUsage(usage)).toEqual(read);
});

test.each([
  undefined,
  null,
  'x',
  [],
  {},
  { total_tokens: 50 },
  { prompt_tokens: '12', completion_tokens: 1 },
  { prompt_tokens: 1.5, completion_tokens: 2 },
  { prompt_tokens: -1, completion_tokens: 2 },
  { prompt_tokens: 1e300, completion_tokens: 2 },
])('%j is not usage', (usage) => {
  expect(readUsage(usage)).toBeUndefined();
});

test.each([
  { what: 'the details', usage: { prompt_tokens_details: { cached_tokens: 4 } }, read: 4 },
  { what: 'the newer details', usage: { input_tokens_details: { cached_tokens: 5 } }, read: 5 },
  { what: 'a count of its own', usage: { prompt_cache_hit_tokens: 6 }, read: 6 },
  { what: 'null details', usage: { prompt_tokens_details: null }, read: undefined },
  { what: 'no number', usage: { prompt_tokens_details: { cached_tokens: '4' } }, read: undefined },
  { what: 'no usage', usage: null, read: undefined },
])('the cached tokens of an upstream that reports $what', ({ usage, read }) => {
  expect(readCachedTokens(usage)).toBe(read);
});
