const CHARACTERS_PER_TOKEN = 4;

// Han, Hiragana, Katakana, Hangul and their punctuation and full-width forms: about one token a character.
const CJK =
  /[\u1100-\u11ff\u2e80-\u303f\u3040-\u30ff\u3100-\u318f\u31a0-\u31ff\u3200-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\u{20000}-\u{323af}]/u;

/** Estimates the tokens of a text: each CJK code point counts one, every other run a quarter of its characters, rounded up. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let run = 0;
  for (const character of text) {
    if (CJK.test(character)) {
      tokens += Math.ceil(run / CHARACTERS_PER_TOKEN) + 1;
      run = 0;
    } else {
      run += 1;
    }
  }
  return tokens + Math.ceil(run / CHARACTERS_PER_TOKEN);
}
