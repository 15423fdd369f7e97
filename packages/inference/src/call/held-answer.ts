import type { AnswerPart } from '@model-gateway/contracts';
import type { Window } from './call.ts';

/** What of an answer its windows hold back. */
export class HeldAnswer {
  readonly #windows: readonly Window[];
  readonly #held: AnswerPart[] = [];
  #isRefused = false;

  constructor(windows: readonly Window[]) {
    this.#windows = windows;
  }

  /** Whether a window broke the answer off: no failure of the upstream. */
  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Takes the next parts; resolves to those that every window lets go. */
  async next(parts: readonly AnswerPart[], isLast = false): Promise<readonly AnswerPart[]> {
    this.#held.push(...parts);
    let free = this.#held.length;
    try {
      for (const window of this.#windows)
        free = Math.min(free, await window.look(this.#held, isLast));
    } catch (error) {
      this.#isRefused = true;
      throw error;
    }
    return this.#held.splice(0, isLast ? this.#held.length : free);
  }
}
