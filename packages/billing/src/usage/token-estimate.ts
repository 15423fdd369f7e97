const CHARACTERS_PER_TOKEN = 4;

// Below the first of these codes no character is CJK, and each character is one UTF-16 unit.
const BEYOND_SIMPLE = /[\u1100-\uffff]/;
const BASIC_PLANE_END = 0xffff;
const FIRST_SURROGATE = 0xd800;
const LAST_HIGH_SURROGATE = 0xdbff;
const FIRST_LOW_SURROGATE = 0xdc00;
const SURROGATES = 0x400;

// Han, Hiragana, Katakana, Hangul and their punctuation and full-width forms: about one token a character.
const CJK_RANGES = [
  [0x1100, 0x11ff],
  [0x2e80, 0x318f],
  [0x31a0, 0x31ff],
  [0x3200, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa960, 0xa97f],
  [0xac00, 0xd7ff],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xffef],
] as const;
// Han beyond the basic plane.
const FIRST_FURTHER_CJK = 0x20000;
const LAST_FURTHER_CJK = 0x323af;

/** For each UTF-16 unit that is a character by itself, whether it is CJK. */
const IS_CJK_UNIT = new Uint8Array(BASIC_PLANE_END + 1);
for (const [first, last] of CJK_RANGES) IS_CJK_UNIT.fill(1, first, last + 1);

/** Estimates the tokens of a text that arrives in pieces, without keeping it. */
export interface TokenCount {
  add(piece: string): void;
  readonly tokens: number;
}

/** Estimates the tokens of a text: each CJK code point counts one, every other run a quarter of its characters, rounded up. */
export function estimateTokens(text: string): number {
  const count = new RunningCount();
  count.add(text);
  return count.tokens;
}

export const createTokenCount = (): TokenCount => new RunningCount();

class RunningCount implements TokenCount {
  #tokens = 0;
  #run = 0;

  get tokens(): number {
    return this.#tokens + Math.ceil(this.#run / CHARACTERS_PER_TOKEN);
  }

  add(piece: string): void {
    // A search for such characters is much faster than the loop, and long texts must not keep the process busy.
    if (BEYOND_SIMPLE.test(piece)) this.#addCharacters(piece);
    else this.#run += piece.length;
  }

  /** With local variables and a table: 32 MiB of Chinese or Korean text must not keep the process busy for long. */
  #addCharacters(piece: string): void {
    let tokens = this.#tokens;
    let run = this.#run;
    for (let at = 0; at < piece.length; at += 1) {
      const unit = piece.charCodeAt(at);
      let isOneToken = IS_CJK_UNIT[unit] === 1;
      if (unit >= FIRST_SURROGATE && unit <= LAST_HIGH_SURROGATE) {
        const low = piece.charCodeAt(at + 1) - FIRST_LOW_SURROGATE;
        if (low >= 0 && low < SURROGATES) {
          at += 1;
          const code = BASIC_PLANE_END + 1 + (unit - FIRST_SURROGATE) * SURROGATES + low;
          isOneToken = code >= FIRST_FURTHER_CJK && code <= LAST_FURTHER_CJK;
        }
      }
      if (isOneToken) {
        tokens += Math.ceil(run / CHARACTERS_PER_TOKEN) + 1;
        run = 0;
      } else {
        run += 1;
      }
    }
    this.#tokens = tokens;
    this.#run = run;
  }
}
