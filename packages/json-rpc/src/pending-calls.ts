/** The calls of one connection that wait for their answers. */
export interface PendingCalls<Id, Answer> {
  readonly size: number;
  /** Waits for an answer and reads it at once, before any later message; what `read` throws fails the call. */
  add<Result>(id: Id, read: (answer: Answer) => Result): Promise<Result>;
  /** False when no call waits for this answer. */
  settle(id: Id, answer: Answer): boolean;
  /** Ends the wait for an answer; false when no call waits for it. */
  fail(id: Id, error: unknown): boolean;
  failAll(error: unknown): void;
}

interface Waiting<Answer> {
  settle(answer: Answer): void;
  fail(error: unknown): void;
}

export function createPendingCalls<Id, Answer>(): PendingCalls<Id, Answer> {
  const waiting = new Map<Id, Waiting<Answer>>();

  function take(id: Id): Waiting<Answer> | undefined {
    const call = waiting.get(id);
    waiting.delete(id);
    return call;
  }

  return {
    get size() {
      return waiting.size;
    },
    add(id, read) {
      return new Promise((resolve, fail) => {
        // An executor runs at once, and what it throws becomes the rejection.
        const settle = (answer: Answer): void => resolve(new Promise((done) => done(read(answer))));
        waiting.set(id, { settle, fail });
      });
    },
    settle(id, answer) {
      const call = take(id);
      call?.settle(answer);
      return call !== undefined;
    },
    fail(id, error) {
      const call = take(id);
      call?.fail(error);
      return call !== undefined;
    },
    failAll(error) {
      for (const id of waiting.keys()) this.fail(id, error);
    },
  };
}
