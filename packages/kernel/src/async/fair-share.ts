/** What is held of something that several owners share. */
export interface HeldShares {
  readonly bytesMax: number;
  /** By all owners. */
  readonly heldBytes: number;
  /** By the owner who asks. */
  readonly ownBytes: number;
}

/**
 * Whether an owner may hold this much more: as much as is left for all others, so one gets at most half, two get a third each,
 * and there is always room for another one. An owner who holds nothing gets whatever is left.
 */
export function isFairShare(
  { bytesMax, heldBytes, ownBytes }: HeldShares,
  moreBytes: number,
): boolean {
  const leftBytes = bytesMax - heldBytes - moreBytes;
  return leftBytes >= 0 && (ownBytes === 0 || ownBytes + moreBytes <= leftBytes);
}
