import { estimateTokens } from './token-estimate.ts';

test.each([
  ['', 0],
  ['abcd', 1],
  ['abcde', 2],
  ['你好', 2],
  ['你好ab', 3],
  ['ab你cdefg', 1 + 1 + 2],
  ['𠀀', 1],
  ['안녕하세요', 5],
  ['😀😀😀😀😀', 2],
])('%j is about %i tokens', (text, tokens) => {
  expect(estimateTokens(text)).toBe(tokens);
});
