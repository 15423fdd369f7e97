/** Carries out the calls of one caller one after another, in the order in which they came. */
export interface OrderedCalls {
  run<Answer>(caller: object, call: () => Promise<Answer>): Promise<Answer>;
}

export function createOrderedCalls(): OrderedCalls {
  const last = new WeakMap<object, Promise<unknown>>();
  return {
    run(caller, call) {
      const before = last.get(caller) ?? Promise.resolve();
      const answer = before.then(call);
      // What became of one call is nothing to the next.
      last.set(
        caller,
        answer.catch(() => undefined),
      );
      return answer;
    },
  };
}
