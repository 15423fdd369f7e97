import { createSequence, type Sequence } from '@model-gateway/kernel';

/** Runs the calls of one caller one after another, in order of arrival. */
export interface OrderedCalls {
  run<Result>(caller: object, call: () => Promise<Result>): Promise<Result>;
}

export function createOrderedCalls(): OrderedCalls {
  const sequences = new WeakMap<object, Sequence>();
  return {
    run(caller, call) {
      const sequence = sequences.get(caller) ?? createSequence();
      sequences.set(caller, sequence);
      return sequence.run(call);
    },
  };
}
