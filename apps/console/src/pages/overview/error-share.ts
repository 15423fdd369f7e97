interface Counts {
  /** Metered requests. */
  readonly requests: number;
  /** Of the metered requests and of the others. */
  readonly errors: number;
  /** Requests that failed before anything was metered. */
  readonly failed: number;
}

/** How many of all requests ended with an error; undefined where there were none. */
export function shareOf({ requests, errors, failed }: Counts): number | undefined {
  const all = requests + failed;
  return all === 0 ? undefined : errors / all;
}
