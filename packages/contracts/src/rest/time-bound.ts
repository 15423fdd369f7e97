const DATE = /^\d{4}-\d{2}-\d{2}$/;
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

// The range that every store supports.
const EARLIEST_MS = Date.UTC(1970, 0, 1);
const LATEST_MS = Date.UTC(9999, 11, 31);

/** Parses a date (`YYYY-MM-DD`) or an RFC 3339 timestamp; undefined for anything else. */
export function timeBound(
  text: string,
  dateMeans: 'start-of-day' | 'end-of-day',
): Date | undefined {
  const time = DATE.test(text) ? dayOf(text, dateMeans) : instantOf(text);
  if (time === undefined) return undefined;
  return new Date(Math.min(Math.max(time, EARLIEST_MS), LATEST_MS));
}

function dayOf(date: string, dateMeans: 'start-of-day' | 'end-of-day'): number | undefined {
  const midnight = midnightOf(date);
  if (midnight === undefined) return undefined;
  return dateMeans === 'start-of-day' ? midnight : midnight + DAY_MS;
}

function instantOf(text: string): number | undefined {
  const [, date = '', hours, minutes, seconds, fraction = '', sign, offsetHours, offsetMinutes] =
    INSTANT.exec(text) ?? [];
  const midnight = midnightOf(date);
  if (midnight === undefined) return undefined;
  const local =
    midnight +
    Number(hours) * HOUR_MS +
    Number(minutes) * MINUTE_MS +
    Number(seconds) * SECOND_MS +
    milliseconds(fraction);
  if (sign === undefined) return local;
  const offset = Number(offsetHours) * HOUR_MS + Number(offsetMinutes) * MINUTE_MS;
  return sign === '+' ? local - offset : local + offset;
}

/** Rounded up: stored times are whole milliseconds, so this compares like the exact value. */
function milliseconds(fraction: string): number {
  const whole = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return /[1-9]/.test(fraction.slice(3)) ? whole + 1 : whole;
}

/** The start of a calendar day; undefined for days such as February 30th. */
function midnightOf(date: string): number | undefined {
  const midnight = new Date(`${date}T00:00:00.000Z`);
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(`${date}T`))
    return undefined;
  return midnight.getTime();
}
