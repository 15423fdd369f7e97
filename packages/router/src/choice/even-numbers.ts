import type { RouteRule } from '../routes/route-rule.ts';

/** The next number of a route, from 0 to below 1. */
export type NextNumber = (rule: RouteRule) => number;

/** Steps of this length, modulo 1, never come close to each other: any number of them in a row is spread evenly. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9;

/**
 * The numbers that decide between the targets of a route. Independent random numbers would often miss the weights by more than
 * 10 % over some hundred requests; these do not. The first one is random, so that processes do not choose alike.
 */
export function createEvenNumbers(random: () => number): NextNumber {
  const last = new WeakMap<RouteRule, number>();
  return (rule) => {
    const before = last.get(rule);
    const next = before === undefined ? random() : (before + GOLDEN_RATIO) % 1;
    last.set(rule, next);
    return next;
  };
}
