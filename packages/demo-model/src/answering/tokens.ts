const CJK = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}`;
const TOKEN = new RegExp(String.raw`\s*(?:[${CJK}]|[^\s${CJK}]+)|\s+$`, 'gu');

/**
 * Splits a text into tokens: a token is a word with the white space before it, or one CJK character. It differs from the estimate
 * of the gateway, so that a test sees which of the two was billed.
 */
export const tokensOf = (text: string): readonly string[] => text.match(TOKEN) ?? [];

/** How many tokens a text has. */
export const countTokens = (text: string): number => tokensOf(text).length;
