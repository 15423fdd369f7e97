/** Counters hold whole numbers; a fraction is a mistake of the caller, in every adapter. */
export function requireWholeNumber(value: number): void {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(`a counter takes whole numbers, not ${value}`);
  }
}
