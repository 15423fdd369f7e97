export const NANO_USD = 1e9;

/** Ten thousand dollars in nano-USD: the sum of as many of them as a user has calls in flight is exact. */
const AMOUNT_MAX = 1e13;

/**
 * An amount as a whole number, so that sums of amounts are exact. It saturates: what is no number at all counts as the most
 * that there is, because sums with it would refuse nothing any more.
 */
export const wholeAmount = (amount: number): number =>
  Number.isNaN(amount) ? AMOUNT_MAX : Math.min(Math.max(Math.ceil(amount), 0), AMOUNT_MAX);
