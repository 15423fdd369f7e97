/** How a metered request ended, as an HTTP status: the one that a log of the same request has. */
export const SERVED_STATUS = {
  complete: 200,
  /** A hook refused the answer. */
  refused: 400,
  /** The client left before the end. */
  left: 499,
  /** The upstream failed after it had begun to answer. */
  interrupted: 502,
} as const;

/** How a metered call ended. */
export type CallEnding = keyof typeof SERVED_STATUS;

/** How a response ended that may have ended early. */
export function endingOf(
  isComplete: boolean,
  { aborted }: { readonly aborted: boolean },
): CallEnding {
  if (isComplete) return 'complete';
  return aborted ? 'left' : 'interrupted';
}

/** The error of a response that ended early, by its status. */
export function endOf(status: number): { readonly code: string; readonly message: string } {
  switch (status) {
    case SERVED_STATUS.left:
      return {
        code: 'client_left',
        message: 'the client disconnected before the end of the response',
      };
    case SERVED_STATUS.refused:
      return { code: 'invalid_request', message: 'the answer was not allowed' };
    default:
      return { code: 'bad_gateway', message: 'the upstream failed before the end of the response' };
  }
}
