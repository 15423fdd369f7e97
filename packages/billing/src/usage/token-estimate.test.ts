import * as fc from 'fast-check';
import { createTokenCount, estimateTokens } from './token-estimate.ts';

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

test('a text in pieces is counted as if it came in one', () => {
  const unit = fc.constantFrom('a', 'é', '你', '안', '😀', '𠀀', '。', '\u1100', '\u10ff');
  fc.assert(
    fc.property(fc.array(fc.string({ unit })), (pieces) => {
      const count = createTokenCount();
      for (const piece of pieces) count.add(piece);
      expect(count.tokens).toBe(estimateTokens(pieces.join('')));
    }),
  );
});
