/** One sequence of numbers for all logs, so that callers can merge their entries. */
export type NextSequence = () => number;
