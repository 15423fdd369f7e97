/** An expiry is a whole number of milliseconds; anything else is a mistake of the caller, in every adapter. */
export function requireExpiryTime(expiresAfterMs: number): void {
  if (!Number.isSafeInteger(expiresAfterMs) || expiresAfterMs < 1) {
    throw new RangeError(`an entry expires after whole milliseconds, not ${expiresAfterMs}`);
  }
}
