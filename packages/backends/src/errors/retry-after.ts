const SECONDS_MAX = 3_600;
const MS_PER_SECOND = 1_000;
/** A date has a time of day. Without one, `Date.parse` makes a date of many a number, such as -5. */
const DATE = /\d:\d\d/;

/** The seconds that a `retry-after` header says, whole and at most an hour; undefined if it says nothing. */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  if (text === '') return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : secondsUntil(text, now);
  if (Number.isNaN(seconds)) return undefined;
  return Math.min(Math.max(Math.ceil(seconds), 0), SECONDS_MAX);
}

function secondsUntil(text: string, now: number): number {
  return DATE.test(text) ? (Date.parse(text) - now) / MS_PER_SECOND : Number.NaN;
}
