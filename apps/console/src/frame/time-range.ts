/** The ranges that can be chosen by name, with their length. */
export const RANGES = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const;

export type RangeName = keyof typeof RANGES;

/** The part of an address that all pages have: a range by name, or its two ends, and whether live data is paused. */
export interface FrameSearch {
  readonly range?: RangeName;
  readonly from?: string;
  readonly to?: string;
  readonly paused?: boolean;
}

export const RANGE_DEFAULT: RangeName = '24h';

/** Reads the range of an address; anything invalid is the default. */
export function frameSearch(search: Readonly<Record<string, unknown>>): FrameSearch {
  const { range, from, to, paused } = search;
  const isCustom = isTime(from) && isTime(to) && Date.parse(from) < Date.parse(to);
  return {
    ...(typeof range === 'string' && Object.hasOwn(RANGES, range)
      ? { range: range as RangeName }
      : {}),
    ...(isCustom ? { from, to } : {}),
    ...(paused === true ? { paused: true } : {}),
  };
}

/** The ends of the range at a moment. */
export function rangeEnds(
  { range, from, to }: FrameSearch,
  now: number,
): { readonly from: Date; readonly to: Date } {
  if (range === undefined && from !== undefined && to !== undefined)
    return { from: new Date(from), to: new Date(to) };
  return { from: new Date(now - RANGES[range ?? RANGE_DEFAULT]), to: new Date(now) };
}

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value));
