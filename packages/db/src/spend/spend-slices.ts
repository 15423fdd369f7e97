import {
  splitTime,
  type SpendFilter,
  type SpendGrouping,
  type TimeSpan,
} from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';
import { partsOfRests, preparedRests, RESTS_ARE_RIGHT, RESTS_ARE_WRONG } from './day-rests.ts';
import {
  DIMENSIONS,
  emptySlice,
  GROUPED,
  keptSlice,
  rowSlices,
  SLICE_COLUMNS,
  type Counting,
  type Dimension,
} from './slice-sql.ts';

/** Kept lines with some of the dimensions. */
interface Cut {
  readonly name: string;
  readonly dimensions: readonly Dimension[];
  readonly hasHours: boolean;
}

/** The cut whose rests of days are kept. */
const ACCOUNT = 'account';

/** The fewest lines first. Lines of all dimensions exist only by day: by hour they would be almost as many as the rows. */
const CUTS: readonly Cut[] = [
  { name: 'model', dimensions: ['model', 'upstream'], hasHours: true },
  { name: 'group', dimensions: ['groupId'], hasHours: true },
  { name: 'project', dimensions: ['project'], hasHours: true },
  { name: 'group-model', dimensions: ['groupId', 'model', 'upstream'], hasHours: true },
  { name: ACCOUNT, dimensions: ['userId', 'keyId', 'groupId', 'project'], hasHours: true },
  { name: 'all', dimensions: DIMENSIONS, hasHours: false },
];

const DAY_MS = 86_400_000;

/** What kept sums have, and the current time. */
export interface KeptSums {
  /** Before it there are only the rows; null where everything is counted. */
  readonly countedSince: Date | null;
  /** Of days before it, the rows of failed requests were deleted. */
  readonly failuresSince: Date | null;
  readonly now: Date;
}

/** What a statement reads its sums from. */
interface Slices {
  /** What goes before the statement. */
  readonly prepared: Prisma.Sql;
  /** A table with the columns of a slice. */
  readonly lines: Prisma.Sql;
}

interface Question {
  readonly filter: SpendFilter;
  readonly by: SpendGrouping;
  readonly sums: KeptSums;
  /** Where the rests of days begin that the statement reads. */
  readonly rests: Date[];
}

/**
 * The lines whose sums are those of the rows that match the filter: whole days and hours come from kept sums, the rest from the
 * rows. Rows and kept sums change in one transaction, so they agree.
 */
export function spendSlices(filter: SpendFilter, by: SpendGrouping, sums: KeptSums): Slices {
  const { countedSince } = sums;
  const kept = spanOf(later(filter.since, countedSince), filter.until);
  const uncounted =
    countedSince === null ? [] : spanOf(filter.since, earlier(filter.until, countedSince));
  const question: Question = { filter, by, sums, rests: [] };
  const slices = [
    ...uncounted.flatMap((span) => rowSlices(span, filter, by)),
    ...kept.flatMap((span) => keptSlices(span, question)),
  ];
  const all = Prisma.join(slices.length > 0 ? slices : [emptySlice(by)], ' UNION ALL ');
  return {
    prepared: question.rests.length > 0 ? preparedRests(question.rests) : Prisma.empty,
    lines: Prisma.sql`(${all}) AS line ${SLICE_COLUMNS}`,
  };
}

/** Whether a part of a day may come from the sums of the whole day. */
export const dividesDays = (filter: SpendFilter, by: SpendGrouping): boolean =>
  by !== 'hour' && splitTime(filter).edges.length > 0;

function keptSlices(span: TimeSpan, question: Question): readonly Prisma.Sql[] {
  const { filter, by } = question;
  const { days, edges } = splitTime(span);
  const wholeDays = days === undefined ? [] : spanOf(days.since, days.until);
  const grain = by === 'hour' ? 'hour' : 'day';
  const cut = cutFor(filter, by, grain);
  if (cut === undefined) return rowSlices(span, filter, by);
  return [
    ...wholeDays.map((part) => keptSlice({ cut: cut.name, grain }, part, filter, by)),
    ...edges.flatMap((part) => edgeSlices(part, question)),
  ];
}

/** A part of a day: from the rests of the day where they are fewer lines and are right. */
function edgeSlices(edge: TimeSpan, question: Question): readonly Prisma.Sql[] {
  const { filter, by, sums, rests } = question;
  const cut = cutFor(filter, by, 'hour');
  const { hours, rest } = splitTime(edge);
  const [whole] = hours;
  // One user or key has few lines, and only accounts have rests.
  const isOfMany = filter.userId === undefined && filter.keyId === undefined;
  const parts =
    by !== 'hour' && cut?.name === ACCOUNT && isOfMany && whole !== undefined
      ? partsOfRests(whole, sums.now)
      : undefined;
  if (parts === undefined) return withoutRests(edge, question);
  const when = RESTS_ARE_RIGHT;
  rests.push(...parts.flatMap(({ grain, span }) => (grain === 'rest' ? [span.since] : [])));
  return [
    ...parts.map(({ grain, span, isSubtracted }) =>
      keptSlice({ cut: ACCOUNT, grain }, span, filter, by, { isSubtracted, when }),
    ),
    ...rest.flatMap((each) => rowSlices(each, filter, by, { when })),
    ...withoutRests(edge, question, { when: RESTS_ARE_WRONG }),
  ];
}

/** A part of a day: itself, or the whole day without its other parts, if they are shorter. */
function withoutRests(
  edge: TimeSpan,
  { filter, by, sums: { now, failuresSince } }: Question,
  counting: Counting = {},
): readonly Prisma.Sql[] {
  const ofDays = cutFor(filter, by, 'day');
  const since = new Date(Math.floor(edge.since.getTime() / DAY_MS) * DAY_MS);
  const until = new Date(since.getTime() + DAY_MS);
  const others = [...spanOf(since, edge.since), ...spanOf(edge.until, until)];
  const isShorter = pastMs(others, now) < pastMs([edge], now);
  const hasFailures = failuresSince === null || since >= failuresSince;
  if (by === 'hour' || ofDays === undefined || !isShorter || !hasFailures)
    return partSlices(edge, filter, by, counting);
  return [
    keptSlice({ cut: ofDays.name, grain: 'day' }, { since, until }, filter, by, counting),
    ...others.flatMap((part) => partSlices(part, filter, by, { ...counting, isSubtracted: true })),
  ];
}

/** A part of a day, by its hours where sums of hours are kept. */
function partSlices(
  part: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
  counting: Counting,
): readonly Prisma.Sql[] {
  const cut = cutFor(filter, by, 'hour');
  if (cut === undefined) return rowSlices(part, filter, by, counting);
  const { hours, rest } = splitTime(part);
  return [
    ...hours.map((each) => keptSlice({ cut: cut.name, grain: 'hour' }, each, filter, by, counting)),
    ...rest.flatMap((each) => rowSlices(each, filter, by, counting)),
  ];
}

/** How much of the spans is over: the time to come has no rows. */
const pastMs = (spans: readonly TimeSpan[], now: Date): number =>
  spans.reduce(
    (sum, { since, until }) =>
      sum + Math.max(0, Math.min(until.getTime(), now.getTime()) - since.getTime()),
    0,
  );

/** The kept lines with the fewest dimensions that have all that the question needs. */
function cutFor(filter: SpendFilter, by: SpendGrouping, grain: 'day' | 'hour'): Cut | undefined {
  const grouped = GROUPED[by];
  const needed = DIMENSIONS.filter((each) => each === grouped || filter[each] !== undefined);
  return CUTS.find(
    ({ dimensions, hasHours }) =>
      (grain === 'day' || hasHours) && needed.every((each) => dimensions.includes(each)),
  );
}

function spanOf(since: Date | undefined, until: Date | undefined): readonly TimeSpan[] {
  return since === undefined || until === undefined || since >= until ? [] : [{ since, until }];
}

const later = (one: Date, other: Date | null): Date =>
  other === null || one > other ? one : other;
const earlier = (one: Date, other: Date): Date => (one < other ? one : other);
