import type { AnswerPart } from '@model-gateway/contracts';
import type { Window } from './call.ts';

/** What of an answer its windows hold back. */
export class HeldAnswer {
  readonly #windows: readonly Window[];
  readonly #held: AnswerPart[] = [];

  constructor(windows: readonly Window[]) {
    this.#windows = windows;
  }

  /** Takes the next parts; resolves to those that every window lets go. */
  async next(parts: readonly AnswerPart[], isLast = false): Promise<readonly AnswerPart[]> {
    this.#held.push(...parts);
    let free = this.#held.length;
    for (const window of this.#windows)
      free = Math.min(free, await window.look([...this.#held], isLast));
    return this.#held.splice(0, isLast ? this.#held.length : free);
  }
}
