/** An entry lives for whole milliseconds; anything else is a mistake of the caller, in every adapter alike. */
export function requireExpiryTime(expiresAfterMs: number): void {
  if (!Number.isSafeInteger(expiresAfterMs) || expiresAfterMs < 1) {
    throw new RangeError(`an entry expires after whole milliseconds, not ${expiresAfterMs}`);
  }
}
