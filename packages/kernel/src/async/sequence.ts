/** Runs tasks one after another, in the order of the calls; a failed task does not affect the next one. */
export interface Sequence {
  run<Result>(work: () => Promise<Result>): Promise<Result>;
}

export function createSequence(): Sequence {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(work) {
      const result = last.then(work, work);
      last = result.catch(() => undefined);
      return result;
    },
  };
}
