/** How a metered request ended, as an HTTP status: the one that a log of the same request has. */
export const SERVED_STATUS = {
  complete: 200,
  /** The client left before the end. */
  left: 499,
  /** The upstream failed after it had begun to answer. */
  interrupted: 502,
} as const;

/** The status of a response that may have ended early. */
export function servedStatus(
  isComplete: boolean,
  { aborted }: { readonly aborted: boolean },
): number {
  if (isComplete) return SERVED_STATUS.complete;
  return aborted ? SERVED_STATUS.left : SERVED_STATUS.interrupted;
}
