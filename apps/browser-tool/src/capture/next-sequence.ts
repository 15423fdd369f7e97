/** One sequence of numbers for all of them, so that a caller can merge what they tell. */
export type NextSequence = () => number;
