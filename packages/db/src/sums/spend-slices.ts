import {
  splitTime,
  type SpendFilter,
  type SpendGrouping,
  type TimeSpan,
} from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';
import { firstHourOf } from './kept-hours.ts';
import {
  COLUMNS,
  DIMENSIONS,
  emptySlice,
  GROUPED,
  keptSlice,
  rowSlices,
  SLICE_COLUMNS,
} from './slice-sql.ts';
import { CUT_NAMES, CUTS, tableOf, type Cut } from './sum-tables.ts';

/**
 * The lines whose sums are those of the rows that match the filter: whole days and hours come from kept sums, the rest from the
 * rows. Rows and kept sums change in one transaction, so they agree.
 */
export function spendSlices(filter: SpendFilter, by: SpendGrouping, now: Date): Prisma.Sql {
  const slices = spanOf(filter.since, filter.until).flatMap((span) =>
    keptSlices(span, filter, by, now),
  );
  const all = Prisma.join(slices.length > 0 ? slices : [emptySlice(by)], ' UNION ALL ');
  return Prisma.sql`(${all}) AS line ${SLICE_COLUMNS}`;
}

/** Whole days by the day, unless hours are asked for; the whole hours of other days; and the rows of what is left. */
function keptSlices(
  span: TimeSpan,
  filter: SpendFilter,
  by: SpendGrouping,
  now: Date,
): readonly Prisma.Sql[] {
  const cut = cutFor(filter, by);
  const { days, hours, rest } = splitTime(span);
  const wholeDays = spanOf(days?.since, days?.until);
  const inDays = by === 'hour' ? [] : wholeDays;
  const inHours = by === 'hour' ? [...wholeDays, ...hours] : hours;
  const firstHour = firstHourOf(tableOf(cut, 'hour'), now);
  const slice = (grain: 'day' | 'hour', part: TimeSpan): Prisma.Sql =>
    keptSlice({ cut, grain }, part, filter, by);
  return [
    ...inDays.map((part) => slice('day', part)),
    ...inHours.flatMap(({ since, until }) => [
      ...spanOf(later(since, firstHour), until).map((part) => slice('hour', part)),
      ...spanOf(since, firstHour && earlier(until, firstHour)).flatMap((part) =>
        rowSlices(part, filter, by),
      ),
    ]),
    ...rest.flatMap((part) => rowSlices(part, filter, by)),
  ];
}

/** The kept lines with the fewest dimensions that have all that the question needs. */
function cutFor(filter: SpendFilter, by: SpendGrouping): Cut {
  const grouped = GROUPED[by];
  const needed = DIMENSIONS.filter((each) => each === grouped || filter[each] !== undefined);
  return (
    CUT_NAMES.find((cut) => needed.every((each) => CUTS[cut].includes(COLUMNS[each]))) ?? 'all'
  );
}

function spanOf(since: Date | undefined, until: Date | undefined): readonly TimeSpan[] {
  return since === undefined || until === undefined || since >= until ? [] : [{ since, until }];
}

const later = (one: Date, other: Date | undefined): Date =>
  other === undefined || one > other ? one : other;
const earlier = (one: Date, other: Date): Date => (one < other ? one : other);
