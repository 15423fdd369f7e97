import { matchesPattern } from './matches-pattern.ts';

test.each([
  ['gpt-4o', 'gpt-4o', true],
  ['gpt-4o', 'gpt-4o-mini', false],
  ['gpt-4o*', 'gpt-4o-mini', true],
  ['gpt-4o*', 'gpt-4o', true],
  ['*', '', true],
  ['*', 'anything', true],
  ['*-mini', 'gpt-4o-mini', true],
  ['*-mini', 'gpt-4o-mini-2', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['ab*ba', 'aba', false],
  ['a**a', 'aa', true],
  ['gpt.4o', 'gpt-4o', false],
  ['GPT*', 'gpt-4o', false],
])('the pattern %p and the name %p: %p', (pattern, name, matches) => {
  expect(matchesPattern(pattern, name)).toBe(matches);
});
