const CENTS_MIN = 0.01;

/** USD without an exponent; `-` where there is no price. */
export function usd(cost: number | null): string {
  if (cost === null) return '-';
  const digits = cost === 0 || cost >= CENTS_MIN ? 4 : 8;
  // Two decimals at least, and no zeros after them.
  return `$${cost.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}

/** A whole number with separators. */
export const count = (value: number): string => value.toLocaleString('en-US');

/** How many requests, in words. */
export const requests = (value: number): string =>
  `${count(value)} ${value === 1 ? 'request' : 'requests'}`;

/** Requests that are on the bill; refused and failed ones are not. */
export const meteredRequests = (value: number): string =>
  `${count(value)} metered ${value === 1 ? 'request' : 'requests'}`;

/** A limit; null stands for no limit. */
export const limit = (value: number | null, show: (value: number) => string = count): string =>
  value === null ? 'unlimited' : show(value);

/** A duration for people. */
export const duration = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;

/** `2026-11-16 18:30:00`, in UTC. */
export const moment = (timestamp: string | null): string =>
  timestamp === null ? '-' : timestamp.slice(0, 19).replace('T', ' ');

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A size in bytes for people. */
export function bytes(size: number): string {
  let value = size;
  let unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; unit += 1) value /= 1024;
  return `${value.toFixed(unit === 0 ? 0 : 1)} ${UNITS[unit]}`;
}
