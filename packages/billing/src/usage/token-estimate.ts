const CHARACTERS_PER_TOKEN = 4;

// Below this code no character is CJK, and each is one UTF-16 unit.
const FIRST_CJK = 0x1100;
const BEYOND_SIMPLE = /[\u1100-\uffff]/;
const BASIC_PLANE_END = 0xffff;

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
  [0x20000, 0x323af],
] as const;

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

  #addCharacters(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.codePointAt(at) ?? 0;
      if (code > BASIC_PLANE_END) at += 1;
      if (isCjk(code)) {
        this.#tokens = this.tokens + 1;
        this.#run = 0;
      } else {
        this.#run += 1;
      }
    }
  }
}

function isCjk(code: number): boolean {
  if (code < FIRST_CJK) return false;
  for (const [first, last] of CJK_RANGES) if (code <= last) return code >= first;
  return false;
}
