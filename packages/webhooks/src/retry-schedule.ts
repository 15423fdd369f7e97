const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The pauses after the failed attempts: nine attempts within a day. */
const PAUSES_MS = [
  30 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  8 * HOUR_MS,
] as const;

/** How long to wait after this many failed attempts; undefined after the last one. */
export const pauseAfter = (attempts: number): number | undefined => PAUSES_MS[attempts - 1];
