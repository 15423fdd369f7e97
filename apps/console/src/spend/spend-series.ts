import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../api/api.ts';
import { rangeEnds, type FrameSearch } from '../frame/time-range.ts';
import { SERIES_MAX, type ChartSeries } from '../ui/chart/chart-data.ts';
import type { FilterParams } from './filter-search.ts';
import { askSummary, type SpendGroup, type Summary, type Sums } from './summary.ts';

/** By what spend is divided. */
export const DIMENSIONS = ['model', 'upstream', 'key', 'project', 'group', 'user'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/** Which of the sums a chart shows. */
export const MEASURES = ['cost_usd', 'requests', 'total_tokens', 'errors'] as const;
export type Measure = (typeof MEASURES)[number];

/** Spend over time: as a whole, and of the largest groups. */
export interface SpendSeries {
  readonly from: number;
  readonly to: number;
  readonly isByDay: boolean;
  /** Where each hour or day begins. */
  readonly times: readonly number[];
  readonly overTime: readonly Sums[];
  readonly parts: readonly { readonly key: string; readonly overTime: readonly Sums[] }[];
  readonly groups: readonly SpendGroup[];
  readonly total: Sums;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer ranges are shown by day. */
const HOURS_SHOWN_MAX = 30;

const FILTER_OF: Readonly<Record<Dimension, string>> = {
  model: 'model',
  upstream: 'upstream',
  key: 'key_id',
  project: 'project',
  group: 'group_id',
  user: 'user_id',
};

/** The hours or days that a range touches, whole. */
export function bucketsOf(
  from: number,
  to: number,
): Pick<SpendSeries, 'from' | 'to' | 'isByDay' | 'times'> {
  const isByDay = to - from > HOURS_SHOWN_MAX * HOUR_MS;
  const size = isByDay ? DAY_MS : HOUR_MS;
  const start = Math.floor(from / size) * size;
  const end = Math.ceil(to / size) * size;
  const count = Math.max(1, Math.round((end - start) / size));
  return {
    from: start,
    to: end,
    isByDay,
    times: Array.from({ length: count }, (_, index) => start + index * size),
  };
}

interface Period {
  readonly from: string;
  readonly to: string;
}

const periodOf = (from: number, to: number): Period => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
});

/** The hours or days that a range touches. Their sums are kept, so that no single requests are read for them. */
function shownBuckets(range: FrameSearch, now: number): ReturnType<typeof bucketsOf> {
  const { from, to } = rangeEnds(range, now);
  return bucketsOf(from.getTime(), to.getTime());
}

/** The period that charts, tables, files and choices of a range are about. */
export function shownPeriod(range: FrameSearch, now: number): Period {
  const { from, to } = shownBuckets(range, now);
  return periodOf(from, to);
}

/** The period before it, as long as it has lasted until now. */
export function periodBefore(range: FrameSearch, now: number): Period {
  const { from, to } = shownBuckets(range, now);
  return periodOf(2 * from - Math.min(to, now), from);
}

/** One sum for each time; zero where nothing was used. */
export function alignedSums(
  times: readonly number[],
  groups: readonly SpendGroup[],
): readonly Sums[] {
  const byTime = new Map(groups.map((group) => [Date.parse(group.key ?? ''), group]));
  return times.map((time) => byTime.get(time) ?? NOTHING);
}

/** The keys of the groups with the most of a measure, which get a color of their own. */
export const largestKeys = (
  groups: readonly SpendGroup[],
  measure: Measure,
  max: number = SERIES_MAX,
): readonly string[] =>
  groups
    .filter(({ key, requests }) => key !== null && requests > 0)
    .toSorted((one, other) => other[measure] - one[measure] || other.requests - one.requests)
    .slice(0, max)
    .flatMap(({ key }) => key ?? []);

/** Asks for spend over time, divided by a dimension. */
export const spendQuery = (
  api: Api,
  range: FrameSearch,
  params: FilterParams,
  { by, measure }: { readonly by: Dimension; readonly measure: Measure },
) => {
  const { paused: _paused, ...rangeOnly } = range;
  return queryOptions({
    queryKey: ['usage.summary', rangeOnly, params, by, measure] as const,
    queryFn: async ({ signal }): Promise<SpendSeries> => {
      const buckets = shownBuckets(range, Date.now());
      const step = buckets.isByDay ? 'day' : 'hour';
      const period = { ...params, ...periodOf(buckets.from, buckets.to) };
      const ask = (groupBy: Dimension | 'day' | 'hour', filter: object = {}): Promise<Summary> =>
        askSummary(api, { ...period, ...filter, group_by: groupBy }, { signal });
      const [whole, divided] = await Promise.all([ask(step), ask(by)]);
      const keys = largestKeys(divided.groups, measure);
      const parts = await Promise.all(
        keys.map(async (key) => {
          const { groups } = await ask(step, { [FILTER_OF[by]]: key });
          return { key, overTime: alignedSums(buckets.times, groups) };
        }),
      );
      return {
        ...buckets,
        overTime: alignedSums(buckets.times, whole.groups),
        parts,
        groups: divided.groups,
        total: divided.total,
      };
    },
  });
};

/** One series for each of the largest groups, and one for the rest. */
export function seriesOf(
  { overTime, parts }: Pick<SpendSeries, 'overTime' | 'parts'>,
  measure: Measure,
  nameOf: (key: string) => string,
  other: string,
): readonly ChartSeries[] {
  // Also those without any of this measure: a group has the same color in every chart.
  const named = parts.map(({ key, overTime: sums }) => ({
    name: nameOf(key),
    values: sums.map((sum) => sum[measure]),
  }));
  // Calls are made one after the other, so that a part can be newer than the whole.
  const rest = overTime.map((sum, index) =>
    Math.max(0, sum[measure] - named.reduce((all, { values }) => all + (values[index] ?? 0), 0)),
  );
  const hasRest = rest.some((value) => value > REST_MIN);
  return hasRest || named.length === 0
    ? [...named, { name: other, values: rest, isRest: true }]
    : named;
}

/** Whether all that has no series of its own is what belongs to no group, such as requests without a key. */
export const isRestUngrouped = ({
  groups,
  parts,
}: Pick<SpendSeries, 'groups' | 'parts'>): boolean => {
  const shown = new Set<string | null>(parts.map(({ key }) => key));
  const rest = groups.filter(({ key, requests }) => !shown.has(key) && requests > 0);
  return rest.length > 0 && rest.every(({ key }) => key === null);
};

/** Less is a difference of rounding. */
const REST_MIN = 1e-9;

const NOTHING: Sums = {
  requests: 0,
  errors: 0,
  cancelled: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  total_tokens: 0,
  cost_usd: 0,
  points: 0,
};
