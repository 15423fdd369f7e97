/** Does one thing after another, in the order in which they were asked for. */
export interface Sequence {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Resolves when everything that was asked for so far is done. */
  settled(): Promise<void>;
}

export function createSequence(): Sequence {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(work) {
      const result = last.then(work, work);
      last = result.catch(() => undefined);
      return result;
    },
    async settled() {
      await last;
    },
  };
}
