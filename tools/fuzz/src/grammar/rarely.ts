import * as fc from 'fast-check';

/** True once in a while. */
export const rarely = (): fc.Arbitrary<boolean> =>
  fc.oneof(
    { weight: 30, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  );
