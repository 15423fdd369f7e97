import { RELAYED_OPERATIONS } from './operations.ts';

test.each([
  [{ prompt: 'Hi' }, 256],
  [{ prompt: 'Hi', max_tokens: 10 }, 10],
  [{ prompt: [1, 2, 3], max_tokens: 10 }, 10],
  [{ prompt: ['a', 'b', 'c'], max_tokens: 10 }, 30],
  [{ prompt: [[1, 2], [3]], max_tokens: 10, n: 2 }, 40],
  [{ prompt: 'Hi', max_tokens: 10, n: 2, best_of: 5 }, 50],
  [{ max_tokens: 0, n: 5 }, 0],
])('a completion of %j reserves the tokens of all its answers: %i', (fields, expected) => {
  expect(RELAYED_OPERATIONS.completions.completionTokens(fields)).toBe(expected);
});
