/** Runs work sequentially, in the order in which it was added. */
export interface Queue {
  /** Work whose signal is aborted before its turn is not started. */
  add<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result>;
}

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return {
    add(work, signal) {
      const turn = last.then(() => {
        signal?.throwIfAborted();
        return work();
      });
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
