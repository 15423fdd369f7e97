import {
  splitTime,
  type SpendFilter,
  type SpendGrouping,
  type TimeSpan,
} from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';

/** What a kept line or a row does not have. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';

type Dimension = 'userId' | 'keyId' | 'groupId' | 'project' | 'model' | 'upstream';

/** Kept lines with some of the dimensions. */
interface Cut {
  readonly name: string;
  readonly dimensions: readonly Dimension[];
  readonly hasHours: boolean;
}

const COLUMNS = {
  userId: Prisma.sql`user_id`,
  keyId: Prisma.sql`key_id`,
  groupId: Prisma.sql`group_id`,
  project: Prisma.sql`project`,
  model: Prisma.sql`model`,
  upstream: Prisma.sql`upstream`,
} as const satisfies Record<Dimension, Prisma.Sql>;

const UUIDS: readonly Dimension[] = ['userId', 'keyId', 'groupId'];
const DIMENSIONS = Object.keys(COLUMNS) as readonly Dimension[];

/** The fewest lines first. Lines of all dimensions exist only by day: by hour they would be almost as many as the rows. */
const CUTS: readonly Cut[] = [
  { name: 'model', dimensions: ['model', 'upstream'], hasHours: true },
  { name: 'group', dimensions: ['groupId'], hasHours: true },
  { name: 'project', dimensions: ['project'], hasHours: true },
  { name: 'group-model', dimensions: ['groupId', 'model', 'upstream'], hasHours: true },
  { name: 'account', dimensions: ['userId', 'keyId', 'groupId', 'project'], hasHours: true },
  { name: 'all', dimensions: DIMENSIONS, hasHours: false },
];

const GROUPED: Record<SpendGrouping, Dimension | undefined> = {
  day: undefined,
  hour: undefined,
  model: 'model',
  upstream: 'upstream',
  key: 'keyId',
  project: 'project',
  group: 'groupId',
  user: 'userId',
};

/** The sums of kept lines, in the order of `SLICE_COLUMNS`. */
const ADDED = Prisma.sql`
  sum(requests), sum(errors + failed), sum(failed), sum(prompt_tokens), sum(completion_tokens), sum(cached_tokens),
  sum(total_tokens), sum(cost), sum(points)`;
const ADDED_ROWS = Prisma.sql`
  count(*), count(*) FILTER (WHERE status >= 400), 0, sum(prompt_tokens), sum(completion_tokens),
  coalesce(sum(cached_tokens), 0), sum(total_tokens), coalesce(sum(cost::numeric), 0), coalesce(sum(points), 0)`;
const ADDED_FAILURES = Prisma.sql`0, sum(repeats), sum(repeats), 0, 0, 0, 0, 0, 0`;
const SLICE_COLUMNS = Prisma.sql`
  (bucket, requests, errors, failed, prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points)`;
const SUBTRACTED = Prisma.sql`
  bucket, -requests, -errors, -failed, -prompt_tokens, -completion_tokens, -cached_tokens, -total_tokens, -cost, -points`;
const NOTHING = Prisma.sql`
  SELECT NULL::text, ${ADDED} FROM usage_sums WHERE false HAVING count(*) > 0`;

const DAY_MS = 86_400_000;

/** What kept sums have, and the current time. */
export interface KeptSums {
  /** Before it there are only the rows; null where everything is counted. */
  readonly countedSince: Date | null;
  /** Of days before it, the rows of failed requests were deleted. */
  readonly failuresSince: Date | null;
  readonly now: Date;
}

/**
 * The sums of the rows that match the filter, by bucket, each in one or more slices: whole days and hours come from kept
 * sums, the rest from the rows. Rows and kept sums change in one transaction, so they agree.
 */
export function spendSlices(filter: SpendFilter, by: SpendGrouping, sums: KeptSums): Prisma.Sql {
  const { countedSince } = sums;
  const kept = spanOf(later(filter.since, countedSince), filter.until);
  const uncounted =
    countedSince === null ? [] : spanOf(filter.since, earlier(filter.until, countedSince));
  const slices = [
    ...uncounted.flatMap((span) => rowSlices(span, filter, by)),
    ...kept.flatMap((span) => keptSlices(span, filter, by, sums)),
  ];
  return Prisma.sql`(${Prisma.join(slices.length > 0 ? slices : [NOTHING], ' UNION ALL ')}) AS slice ${SLICE_COLUMNS}`;
}

/** Whether a part of a day may come from the sums of the whole day. */
export const dividesDays = (filter: SpendFilter, by: SpendGrouping): boolean =>
  by !== 'hour' && splitTime(filter).edges.length > 0;

function keptSlices(
  span: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
  sums: KeptSums,
): readonly Prisma.Sql[] {
  const { days, edges } = splitTime(span);
  const wholeDays = days === undefined ? [] : spanOf(days.since, days.until);
  const grain = by === 'hour' ? 'hour' : 'day';
  const cut = cutFor(filter, by, grain);
  if (cut === undefined) return rowSlices(span, filter, by);
  return [
    ...wholeDays.map((part) => keptSlice(cut, grain, part, filter, by)),
    ...edges.flatMap((part) => edgeSlices(part, filter, by, sums)),
  ];
}

/** A part of a day: itself, or the whole day without its other parts, if they are shorter. */
function edgeSlices(
  edge: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
  { now, failuresSince }: KeptSums,
): readonly Prisma.Sql[] {
  const ofDays = cutFor(filter, by, 'day');
  const since = new Date(Math.floor(edge.since.getTime() / DAY_MS) * DAY_MS);
  const until = new Date(since.getTime() + DAY_MS);
  const others = [...spanOf(since, edge.since), ...spanOf(edge.until, until)];
  const isShorter = pastMs(others, now) < pastMs([edge], now);
  const hasFailures = failuresSince === null || since >= failuresSince;
  if (by === 'hour' || ofDays === undefined || !isShorter || !hasFailures)
    return partSlices(edge, filter, by);
  return [
    keptSlice(ofDays, 'day', { since, until }, filter, by),
    ...others.flatMap((part) => partSlices(part, filter, by).map(subtracted)),
  ];
}

/** A part of a day, by its hours where sums of hours are kept. */
function partSlices(part: TimeSpan, filter: SpendFilter, by: SpendGrouping): readonly Prisma.Sql[] {
  const cut = cutFor(filter, by, 'hour');
  if (cut === undefined) return rowSlices(part, filter, by);
  const { hours, rest } = splitTime(part);
  return [
    ...hours.map((each) => keptSlice(cut, 'hour', each, filter, by)),
    ...rest.flatMap((each) => rowSlices(each, filter, by)),
  ];
}

/** How much of the spans is over: the time to come has no rows. */
const pastMs = (spans: readonly TimeSpan[], now: Date): number =>
  spans.reduce(
    (sum, { since, until }) =>
      sum + Math.max(0, Math.min(until.getTime(), now.getTime()) - since.getTime()),
    0,
  );

const subtracted = (slice: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`SELECT ${SUBTRACTED} FROM (${slice}) AS other ${SLICE_COLUMNS}`;

/** The kept lines with the fewest dimensions that have all that the question needs. */
function cutFor(filter: SpendFilter, by: SpendGrouping, grain: 'day' | 'hour'): Cut | undefined {
  const grouped = GROUPED[by];
  const needed = DIMENSIONS.filter((each) => each === grouped || filter[each] !== undefined);
  return CUTS.find(
    ({ dimensions, hasHours }) =>
      (grain === 'day' || hasHours) && needed.every((each) => dimensions.includes(each)),
  );
}

function keptSlice(
  cut: Cut,
  grain: 'day' | 'hour',
  { since, until }: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
): Prisma.Sql {
  const { key, shown } = bucketOf(by, Prisma.sql`since`, grain);
  return Prisma.sql`
    SELECT ${shown}, ${ADDED} FROM usage_sums
    WHERE cut = ${cut.name} AND grain = ${grain}
      AND since >= ${since}::timestamptz AND since < ${until}::timestamptz ${matching(filter)}
    GROUP BY ${key}`;
}

const rowSlices = (
  { since, until }: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
): readonly Prisma.Sql[] => {
  const { key, shown } = bucketOf(by, Prisma.sql`created_at`);
  return [
    Prisma.sql`
      SELECT ${shown}, ${ADDED_ROWS} FROM usage_records
      WHERE created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz ${matching(filter, HIDDEN)}
      GROUP BY ${key}`,
    Prisma.sql`
      SELECT ${shown}, ${ADDED_FAILURES} FROM (
        SELECT created_at, user_id, key_id, group_id, project, counted_model AS model, upstream, repeats
        FROM request_failures
      ) AS failure
      WHERE created_at >= ${since}::timestamptz AND created_at < ${until}::timestamptz ${matching(filter, HIDDEN)}
      GROUP BY ${key}`,
  ];
};

/**
 * What is grouped by, and how it is shown, which is worked out once for each group. Kept lines begin with their day or hour. Of
 * other times `date_bin` finds it with a division, where `date_trunc` works with the calendar.
 */
function bucketOf(
  by: SpendGrouping,
  time: Prisma.Sql,
  grain?: 'day' | 'hour',
): { readonly key: Prisma.Sql; readonly shown: Prisma.Sql } {
  const dimension = GROUPED[by];
  if (dimension === undefined) {
    const [unit, form] =
      by === 'day'
        ? [Prisma.sql`'1 day'`, Prisma.sql`'YYYY-MM-DD'`]
        : [Prisma.sql`'1 hour'`, Prisma.sql`'YYYY-MM-DD"T"HH24:00:00"Z"'`];
    const key =
      by === grain ? time : Prisma.sql`date_bin(${unit}, ${time}, '2000-01-01T00:00:00Z')`;
    return { key, shown: Prisma.sql`to_char(${key} AT TIME ZONE 'UTC', ${form})` };
  }
  const key = COLUMNS[dimension];
  const nothing = UUIDS.includes(dimension) ? Prisma.sql`${NIL_UUID}::uuid` : Prisma.sql`''`;
  return { key, shown: Prisma.sql`NULLIF(${key}, ${nothing})::text` };
}

/**
 * Dimensions whose value the planner does not see. For a user with many rows it would take the index of time, which has the rows of
 * all users; for any user it takes the index of users.
 */
const HIDDEN: readonly Dimension[] = ['userId'];

function matching(filter: SpendFilter, hidden: readonly Dimension[] = []): Prisma.Sql {
  const conditions = DIMENSIONS.flatMap((dimension) => {
    const value = filter[dimension];
    if (value === undefined) return [];
    const given = UUIDS.includes(dimension) ? Prisma.sql`${value}::uuid` : Prisma.sql`${value}`;
    const wanted = hidden.includes(dimension) ? Prisma.sql`(SELECT ${given})` : given;
    return [Prisma.sql` AND ${COLUMNS[dimension]} = ${wanted}`];
  });
  return conditions.length === 0 ? Prisma.empty : Prisma.join(conditions, ' ');
}

function spanOf(since: Date | undefined, until: Date | undefined): readonly TimeSpan[] {
  return since === undefined || until === undefined || since >= until ? [] : [{ since, until }];
}

const later = (one: Date, other: Date | null): Date =>
  other === null || one > other ? one : other;
const earlier = (one: Date, other: Date): Date => (one < other ? one : other);
