interface Counts {
  /** All that were asked. */
  readonly requests: number;
  /** A part of them. */
  readonly errors: number;
}

/** How many of all requests ended with an error; undefined where there were none. */
export const shareOf = ({ requests, errors }: Counts): number | undefined =>
  requests === 0 ? undefined : errors / requests;
