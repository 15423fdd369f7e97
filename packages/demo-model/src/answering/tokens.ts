const CJK = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`;
const TOKEN = new RegExp(String.raw`\s*(?:[${CJK}]|[^\s${CJK}]+)|\s+$`, 'gu');

/**
 * Splits a text into tokens: a token is a word with the white space before it, or one CJK character. It differs from the estimate
 * of the gateway, so that a test sees which of the two was billed.
 */
export const tokensOf = (text: string): readonly string[] => text.match(TOKEN) ?? [];

/** A longer text has as many tokens for each character as its beginning, so that counting takes no time. */
const COUNTED_CHARS_MAX = 256 * 1024;
const ALL_COUNTED_CHARS_MAX = 4 * COUNTED_CHARS_MAX;

/** How many tokens a text has. */
export function countTokens(text: string, countedMax = COUNTED_CHARS_MAX): number {
  if (text.length <= countedMax) return tokensOf(text).length;
  const counted = tokensOf(text.slice(0, countedMax)).length;
  return Math.round((counted * text.length) / countedMax);
}

/** How many tokens texts have together; of many long ones, each is counted for its part of what may be counted. */
export function countAllTokens(texts: readonly string[]): number {
  const chars = texts.reduce((sum, { length }) => sum + length, 0);
  const share = Math.min(1, ALL_COUNTED_CHARS_MAX / chars);
  return texts.reduce(
    (sum, text) =>
      sum + countTokens(text, Math.min(COUNTED_CHARS_MAX, Math.ceil(text.length * share))),
    0,
  );
}
