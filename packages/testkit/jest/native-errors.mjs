// Jest gives each test file JavaScript globals of its own, but Node's modules throw errors of the process. Lets `instanceof` accept
// these too: https://github.com/jestjs/jest/issues/2549
import { isNativeError } from 'node:util/types';
import { runInThisContext } from 'node:vm';

const isInstance = Function.prototype[Symbol.hasInstance];

for (const type of [Error, AggregateError, RangeError, SyntaxError, TypeError]) {
  const outer = runInThisContext(type.name);
  Object.defineProperty(type, Symbol.hasInstance, {
    value(value) {
      // Classes that extend it inherit this.
      if (this !== type) return isInstance.call(this, value);
      return (
        isInstance.call(type, value) || (isNativeError(value) && isInstance.call(outer, value))
      );
    },
  });
}
