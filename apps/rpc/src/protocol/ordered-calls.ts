/** Runs the calls of one caller one after another, in order of arrival. */
export interface OrderedCalls {
  run<Result>(caller: object, call: () => Promise<Result>): Promise<Result>;
}

export function createOrderedCalls(): OrderedCalls {
  const last = new WeakMap<object, Promise<unknown>>();
  return {
    run(caller, call) {
      const before = last.get(caller) ?? Promise.resolve();
      const result = before.then(call);
      // A failed call does not affect the next one.
      last.set(
        caller,
        result.catch(() => undefined),
      );
      return result;
    },
  };
}
