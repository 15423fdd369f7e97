/** Lets work through one at a time per key, and only so many at once altogether; the others wait in line. */
export interface Turnstile {
  /** Rejects without doing the work when too many wait already. */
  pass<Answer>(key: string, work: () => Promise<Answer>): Promise<Answer>;
}

interface TurnstileOptions {
  readonly atOnceMax: number;
  readonly waitingMax: number;
  /** What those are told who find the line full. */
  readonly refusal: () => Error;
}

export function createTurnstile({ atOnceMax, waitingMax, refusal }: TurnstileOptions): Turnstile {
  const inside = new Set<string>();
  const waiting: { readonly key: string; readonly enter: () => void }[] = [];

  function admitWaiting(): void {
    while (inside.size < atOnceMax) {
      const index = waiting.findIndex(({ key }) => !inside.has(key));
      const [next] = index === -1 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      inside.add(next.key);
      next.enter();
    }
  }

  return {
    async pass(key, work) {
      if (waiting.length >= waitingMax) throw refusal();
      await new Promise<void>((enter) => {
        waiting.push({ key, enter });
        admitWaiting();
      });
      try {
        return await work();
      } finally {
        inside.delete(key);
        admitWaiting();
      }
    },
  };
}
