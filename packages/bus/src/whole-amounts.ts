export const NANO_USD = 1e9;

// A million dollars in nano-USD: thousands of them still have an exact sum.
const AMOUNT_MAX = 1e15;

/** An amount as a whole number, so that sums of amounts are exact. */
export const wholeAmount = (amount: number): number =>
  Math.min(Math.max(Math.ceil(amount), 0), AMOUNT_MAX);
