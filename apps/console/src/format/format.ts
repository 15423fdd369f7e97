/** Numbers, money and times in the language of the viewer. */
export interface Format {
  readonly locale: string;
  number(value: number): string;
  /** 12,300 as 12.3K. */
  compact(value: number): string;
  /** US dollars with the precision that matters: $0.0004, $1.25, $1,200. */
  money(usd: number): string;
  /** US dollars with every digit of a price: $1.375. */
  price(usd: number): string;
  percent(share: number): string;
  /** 340 ms, 1.2 s, 2 min. */
  duration(ms: number): string;
  bytes(count: number): string;
  dateTime(time: Date | string | number): string;
  date(time: Date | string | number): string;
  /** A day of UTC. */
  utcDate(time: Date | string | number): string;
  /** "Nov 3", for an axis. */
  shortDate(time: number, isUtc: boolean): string;
  /** "14:30", for an axis; with seconds where those matter. */
  clock(time: number, hasSeconds: boolean): string;
  /** "3 minutes ago", from the given moment. */
  relative(time: Date | string | number, now?: number): string;
}

const SECOND_MS = 1000;
const DAY_MS = 86_400_000;
const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, ms: number])[] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['week', 604_800_000],
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', SECOND_MS],
];
const DURATIONS: readonly (readonly [belowMs: number, unit: string, perUnit: number])[] = [
  [SECOND_MS, 'millisecond', 1],
  [120_000, 'second', SECOND_MS],
  [7_200_000, 'minute', 60_000],
  [172_800_000, 'hour', 3_600_000],
  [Number.POSITIVE_INFINITY, 'day', 86_400_000],
];
const BYTES: readonly (readonly [below: number, unit: string, per: number])[] = [
  [1024, 'byte', 1],
  [1024 ** 2, 'kilobyte', 1024],
  [1024 ** 3, 'megabyte', 1024 ** 2],
  [Number.POSITIVE_INFINITY, 'gigabyte', 1024 ** 3],
];

export function createFormat(locale: string, timeZone?: string): Format {
  const zone = timeZone === undefined ? {} : { timeZone };
  const number = new Intl.NumberFormat(locale);
  const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 });
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const dateTime = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'medium',
    ...zone,
  });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...zone });
  const utcDate = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const shortDate = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', ...zone });
  const shortUtcDate = new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short', ...zone });
  const exactClock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', ...zone });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  // 47 hours ago is one whole day ago, but not "yesterday".
  const relativeDays = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });

  // Making a formatter takes a hundred times as long as using it, and a table uses one in every row.
  const formatters = new Map<string, Intl.NumberFormat>();
  function formatter(name: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const known = formatters.get(name);
    if (known !== undefined) return known;
    const made = new Intl.NumberFormat(locale, options);
    formatters.set(name, made);
    return made;
  }

  function withUnit(value: number, unit: string): string {
    const maximumSignificantDigits = value < 10 ? 2 : value < 100 ? 3 : 4;
    return formatter(`${unit} ${maximumSignificantDigits}`, {
      style: 'unit',
      unit,
      unitDisplay: 'short',
      maximumSignificantDigits,
    }).format(value);
  }

  const inDollars = (name: string, digits: Intl.NumberFormatOptions): Intl.NumberFormat =>
    formatter(name, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
      ...digits,
    });

  return {
    locale,
    number: (value) => number.format(value),
    compact: (value) => compact.format(value),
    money(usd) {
      const size = Math.abs(usd);
      if (size === 0 || size >= 1)
        return inDollars('dollars', {
          minimumFractionDigits: 2,
          maximumFractionDigits: 2,
        }).format(usd);
      return size >= 0.01
        ? inDollars('cents', { minimumFractionDigits: 2, maximumFractionDigits: 4 }).format(usd)
        : inDollars('small', { maximumSignificantDigits: 2 }).format(usd);
    },
    price: (usd) =>
      inDollars('price', { minimumFractionDigits: 2, maximumFractionDigits: 10 }).format(usd),
    percent: (share) => percent.format(share),
    duration(ms) {
      const [, unit, per] = DURATIONS.find(([below]) => ms < below) ?? [0, 'day', 86_400_000];
      return withUnit(ms / per, unit);
    },
    bytes(count) {
      const [, unit, per] = BYTES.find(([below]) => count < below) ?? [0, 'byte', 1];
      return withUnit(count / per, unit);
    },
    dateTime: (time) => dateTime.format(new Date(time)),
    date: (time) => date.format(new Date(time)),
    utcDate: (time) => utcDate.format(new Date(time)),
    shortDate: (time, isUtc) => (isUtc ? shortUtcDate : shortDate).format(time),
    clock: (time, hasSeconds) => (hasSeconds ? exactClock : clock).format(time),
    relative(time, now = Date.now()) {
      const distance = new Date(time).getTime() - now;
      const [unit, ms] = STEPS.find(([, size]) => Math.abs(distance) >= size) ?? [
        'second' as const,
        SECOND_MS,
      ];
      const words = ms >= DAY_MS ? relativeDays : relative;
      return words.format(Math.trunc(distance / ms), unit);
    },
  };
}
