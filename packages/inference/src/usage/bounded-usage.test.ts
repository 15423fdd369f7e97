import { boundedUsage } from './bounded-usage.ts';

const usage = (prompt_tokens: number, completion_tokens: number) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
});
const estimate = () => usage(10, 5);

test.each([
  ['too much of both', usage(1_000, 1_000), usage(40, 20)],
  ['too much of the prompt', usage(41, 20), usage(40, 20)],
  ['too much of the completion', usage(1, 21), usage(1, 20)],
  ['as much as the texts can be', usage(40, 20), usage(40, 20)],
  ['nothing', usage(0, 0), usage(0, 0)],
])('a node that reports %s', (_what, reported, expected) => {
  expect(boundedUsage({ isBounded: true }, reported, estimate)).toEqual(expected);
});

test('the usage of an upstream that an operator registered is taken as it is', () => {
  const reported = usage(1_000, 1_000);
  expect(boundedUsage({}, reported, estimate)).toBe(reported);
});
