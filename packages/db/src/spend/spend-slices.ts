import {
  splitTime,
  type SpendFilter,
  type SpendGrouping,
  type TimeSpan,
} from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';
import { BUSY_HOURS } from './busy-hours.ts';
import { areRestsRight, isKept, partsOfRests } from './day-rests.ts';
import { areHoursRight } from './made-hours.ts';
import { PROJECT_HOURS } from './project-hours.ts';
import {
  cancelledSlices,
  DIMENSIONS,
  emptySlice,
  GROUPED,
  keptSlice,
  rowSlices,
  SLICE_COLUMNS,
  type Counting,
  type Dimension,
} from './slice-sql.ts';

/** A kind of kept lines, by their dimensions (docs/decisions/0019-kept-sums.md). */
interface Cut {
  readonly name: string;
  readonly dimensions: readonly Dimension[];
  readonly hasHours: boolean;
}

/** The cut whose rests of days are kept. */
const ACCOUNT = 'account';

/**
 * The cuts with the fewest lines come first. Lines of all dimensions exist only by day: by hour they would be almost as many as
 * the rows.
 */
const CUTS: readonly Cut[] = [
  { name: 'model', dimensions: ['model', 'upstream'], hasHours: true },
  { name: 'group', dimensions: ['groupId'], hasHours: true },
  { name: 'project', dimensions: ['project'], hasHours: true },
  { name: 'group-model', dimensions: ['groupId', 'model', 'upstream'], hasHours: true },
  { name: ACCOUNT, dimensions: ['userId', 'keyId', 'groupId', 'project'], hasHours: true },
  { name: 'all', dimensions: DIMENSIONS, hasHours: false },
];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** What kept sums have, and the current time. */
export interface KeptSums {
  /** Rows before this moment are not counted yet; null if all are. */
  readonly countedSince: Date | null;
  /** The rows of failed requests of earlier days were deleted; null if none were. */
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
  /** Conditions that the statement looks at once, before it reads anything. */
  readonly checks: Prisma.Sql[];
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
  const question: Question = { filter, by, sums, checks: [] };
  const slices = [
    ...uncounted.flatMap((span) => rowSlices(span, filter, by)),
    ...kept.flatMap((span) => keptSlices(span, question)),
    ...spanOf(filter.since, filter.until).flatMap((span) => cancelledSlices(span, filter, by)),
  ];
  const all = Prisma.join(slices.length > 0 ? slices : [emptySlice(by)], ' UNION ALL ');
  return {
    prepared: preparedChecks(question.checks),
    lines: Prisma.sql`(${all}) AS line ${SLICE_COLUMNS}`,
  };
}

const preparedChecks = (checks: readonly Prisma.Sql[]): Prisma.Sql =>
  checks.length === 0
    ? Prisma.empty
    : Prisma.sql`WITH checked AS MATERIALIZED (SELECT ${Prisma.join(
        checks.map((check, index) => Prisma.sql`${check} AS ${checkName(index)}`),
      )})`;

const checkName = (index: number): Prisma.Sql => Prisma.raw(`check_${index}`);

/** Slices that are read if a condition holds, or else others. Only one of them is read. */
function either(
  check: Prisma.Sql,
  { checks }: Question,
  { when, ...counting }: Counting,
  slicesFor: (counting: Counting, holds: boolean) => readonly Prisma.Sql[],
): readonly Prisma.Sql[] {
  const holds = Prisma.sql`(SELECT ${checkName(checks.length)} FROM checked)`;
  checks.push(check);
  const and = (condition: Prisma.Sql): Counting => ({
    ...counting,
    when: when === undefined ? condition : Prisma.sql`${when} AND ${condition}`,
  });
  return [...slicesFor(and(holds), true), ...slicesFor(and(Prisma.sql`NOT ${holds}`), false)];
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
  if (cut === undefined) return unkeptSlices(span, question, {});
  return [
    ...wholeDays.flatMap((part) =>
      grain === 'hour'
        ? hourSlices(part, cut, question, {})
        : [keptSlice({ cut: cut.name, grain }, part, filter, by)],
    ),
    ...edges.flatMap((part) => edgeSlices(part, question)),
  ];
}

/** A part of a day: from the rests of the day if these are fewer lines and are right. */
function edgeSlices(edge: TimeSpan, question: Question): readonly Prisma.Sql[] {
  const { filter, by, sums } = question;
  const cut = cutFor(filter, by, 'hour');
  const { hours, rest } = splitTime(edge);
  const [whole] = hours;
  // One user or key has few lines, and only accounts have rests.
  const isOfMany = filter.userId === undefined && filter.keyId === undefined;
  const parts =
    by !== 'hour' && cut?.name === ACCOUNT && isOfMany && whole !== undefined
      ? partsOfRests(whole, sums.now)
      : undefined;
  if (parts === undefined) return withoutRests(edge, question, {});
  const moments = parts.flatMap(({ grain, span }) => (grain === 'rest' ? [span.since] : []));
  return either(areRestsRight(moments), question, {}, (counting, areRight) =>
    areRight
      ? [
          ...parts.map(({ grain, span, isSubtracted }) =>
            keptSlice({ cut: ACCOUNT, grain }, span, filter, by, { ...counting, isSubtracted }),
          ),
          ...rest.flatMap((each) => rowSlices(each, filter, by, counting)),
        ]
      : withoutRests(edge, question, counting),
  );
}

/** A part of a day: by itself, or as the whole day minus its other parts if these are shorter. */
function withoutRests(
  edge: TimeSpan,
  question: Question,
  counting: Counting,
): readonly Prisma.Sql[] {
  const { filter, by, sums } = question;
  const { now, failuresSince } = sums;
  const ofDays = cutFor(filter, by, 'day');
  const since = new Date(startOfDay(edge.since));
  const until = new Date(since.getTime() + DAY_MS);
  const others = [...spanOf(since, edge.since), ...spanOf(edge.until, until)];
  const isShorter = pastMs(others, now) < pastMs([edge], now);
  const hasFailures = failuresSince === null || since >= failuresSince;
  if (by === 'hour' || ofDays === undefined || !isShorter || !hasFailures)
    return partSlices(edge, question, counting);
  return [
    keptSlice({ cut: ofDays.name, grain: 'day' }, { since, until }, filter, by, counting),
    ...others.flatMap((part) => partSlices(part, question, { ...counting, isSubtracted: true })),
  ];
}

/** A part of a day, by its hours where sums of hours are kept. */
function partSlices(part: TimeSpan, question: Question, counting: Counting): readonly Prisma.Sql[] {
  const { filter, by } = question;
  const cut = cutFor(filter, by, 'hour');
  if (cut === undefined) return unkeptSlices(part, question, counting);
  const { hours, rest } = splitTime(part);
  return [
    ...hours.flatMap((each) => hourSlices(each, cut, question, counting)),
    ...rest.flatMap((each) => rowSlices(each, filter, by, counting)),
  ];
}

/** Whole hours. Those of a project in a group are made after the day, in fewer lines than those of its accounts. */
function hourSlices(
  hours: TimeSpan,
  { name }: Cut,
  question: Question,
  counting: Counting,
): readonly Prisma.Sql[] {
  const { filter, by, sums } = question;
  const { groupId } = filter;
  const slice = (cut: string, span: TimeSpan, how: Counting): Prisma.Sql =>
    keptSlice({ cut, grain: 'hour' }, span, filter, by, how);
  const { since } = hours;
  const until = earlier(hours.until, new Date(startOfDay(sums.now)));
  const isMade = since < until && isKept(startOfDay(since), sums.now);
  if (groupId === undefined || name !== ACCOUNT || !isMade || !isOfProjects(filter, by))
    return [slice(name, hours, counting)];
  const past = { since, until };
  return [
    ...either(areHoursRight(PROJECT_HOURS, past, groupId), question, counting, (how, areRight) => [
      slice(areRight ? PROJECT_HOURS.cut : name, past, how),
    ]),
    ...spanOf(until, hours.until).map((each) => slice(name, each, counting)),
  ];
}

/** A span that no cut with hours can answer: from the rows, or from the hours of a user who was busy then. */
function unkeptSlices(
  span: TimeSpan,
  question: Question,
  counting: Counting,
): readonly Prisma.Sql[] {
  const { filter, by, sums } = question;
  const { userId } = filter;
  const since = new Date(Math.ceil(span.since.getTime() / HOUR_MS) * HOUR_MS);
  const over = Math.min(span.until.getTime(), startOfDay(sums.now));
  const until = new Date(Math.floor(over / HOUR_MS) * HOUR_MS);
  if (userId === undefined || since >= until || !isKept(startOfDay(since), sums.now))
    return rowSlices(span, filter, by, counting);
  const hours = { since, until };
  const others = [...spanOf(span.since, since), ...spanOf(until, span.until)];
  return [
    ...either(areHoursRight(BUSY_HOURS, hours, userId), question, counting, (how, areRight) =>
      areRight
        ? [keptSlice({ cut: BUSY_HOURS.cut, grain: 'hour' }, hours, filter, by, how)]
        : rowSlices(hours, filter, by, how),
    ),
    ...others.flatMap((each) => rowSlices(each, filter, by, counting)),
  ];
}

const startOfDay = (moment: Date): number => Math.floor(moment.getTime() / DAY_MS) * DAY_MS;

/** How much of the spans is in the past: the future has no rows. */
const pastMs = (spans: readonly TimeSpan[], now: Date): number =>
  spans.reduce(
    (sum, { since, until }) =>
      sum + Math.max(0, Math.min(until.getTime(), now.getTime()) - since.getTime()),
    0,
  );

function neededFor(filter: SpendFilter, by: SpendGrouping): readonly Dimension[] {
  const grouped = GROUPED[by];
  return DIMENSIONS.filter((each) => each === grouped || filter[each] !== undefined);
}

const isOfProjects = (filter: SpendFilter, by: SpendGrouping): boolean =>
  neededFor(filter, by).every((each) => each === 'groupId' || each === 'project');

/** The kept lines with the fewest dimensions that have all that the question needs. */
function cutFor(filter: SpendFilter, by: SpendGrouping, grain: 'day' | 'hour'): Cut | undefined {
  const needed = neededFor(filter, by);
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
