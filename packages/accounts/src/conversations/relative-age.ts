const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['year', 365 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', MINUTE_MS],
];

/** The age of something as text: `just now`, `1 minute ago`, `5 days ago`. */
export function relativeAge(moment: Date, nowMs: number): string {
  const age = nowMs - moment.getTime();
  const unit = UNITS.find(([, ms]) => age >= ms);
  // Under a minute; or the clocks of two machines differ a little.
  if (unit === undefined) return 'just now';
  const [name, ms] = unit;
  const count = Math.floor(age / ms);
  return `${count} ${name}${count === 1 ? '' : 's'} ago`;
}
