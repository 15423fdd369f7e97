import type { CheckedDay, SpendSumsStore, TimeSpan } from '@model-gateway/billing';
import type { Connection, Queries } from '../connection/connection.ts';
import { LONG_QUERY_MS_MAX } from '../connection/long-queries.ts';
import { firstHourOfAll, lastHourToForget } from './hours-of-all.ts';
import { comparison, correction, removal, type CountedDays } from './spend-lines.ts';
import { readSumsState } from './sums-state.ts';

const DAY_MS = 86_400_000;
/** A day of a busy service has millions of rows. */
const REPAIR = { timeoutMs: LONG_QUERY_MS_MAX };
const DATE_CHARS = 'YYYY-MM-DD'.length;

/** Checks and corrects the kept sums in Postgres, a day at a time. */
export function createPostgresSpendSums(connection: Connection): SpendSumsStore {
  async function* check({ repairs }: { readonly repairs: boolean }): AsyncIterable<CheckedDay> {
    const [range] = await connection.run(
      (queries) => queries.$queryRaw<{ first: Date | null; last: Date | null }[]>`
        SELECT
          least(
            (SELECT min(created_at) FROM usage_records),
            (SELECT min(created_at) FROM request_failures),
            (SELECT min(since) FROM usage_sums)
          ) AS first,
          greatest(
            (SELECT max(created_at) FROM usage_records),
            (SELECT max(created_at) FROM request_failures),
            (SELECT max(since) FROM usage_sums)
          ) AS last`,
    );
    if (range === undefined || range.first === null || range.last === null) return;
    const first = startOfDay(range.first);
    for (let day = startOfDay(range.last); day >= first; day -= DAY_MS) {
      const days = dayAt(day);
      const found = repairs
        ? await connection.transaction((queries) => repair(queries, days), REPAIR)
        : await connection.run(async (queries) =>
            compare(queries, await countedDays(queries, days)),
          );
      if (found.rows > 0 || found.wrongLines > 0) yield { day: dateOf(days.since), ...found };
    }
    if (repairs) await markComplete();
  }

  const markComplete = (): Promise<unknown> =>
    connection.run((queries) =>
      queries.usageSumsState.updateMany({
        data: { completeSince: null, hoursCompleteSince: null },
      }),
    );

  /** Counts the newest day that has uncounted rows; returns whether there may be more. */
  const countNext = (): Promise<boolean> =>
    connection.transaction(async (queries) => {
      await keepWritersOut(queries);
      const state = await readSumsState(queries);
      if (state.countedSince === null) return false;
      const newest = await newestRowBefore(queries, state.countedSince);
      const days = newest && dayAt(startOfDay(newest));
      if (days) await repair(queries, days);
      // A process of an earlier version may have counted further back, for the lines that it knows.
      const lowered = (since: Date | null): Date | null =>
        since && days && (since < days.since ? since : days.since);
      await queries.usageSumsState.updateMany({
        data: {
          completeSince: lowered(state.completeSince),
          hoursCompleteSince: lowered(state.hoursCompleteSince),
        },
      });
      return days !== null;
    }, REPAIR);

  return {
    check,
    forgetHours: (now) =>
      connection.run(
        (queries) => queries.$executeRaw`
          DELETE FROM usage_sums
          WHERE cut = 'all' AND grain = 'hour' AND since < ${lastHourToForget(now)}::timestamptz`,
      ),
    async catchUp(signal) {
      let days = 0;
      while (!signal.aborted && (await countNext())) days += 1;
      return days;
    },
  };
}

/** The time of the newest usage row or failed request before a moment. */
async function newestRowBefore(queries: Queries, moment: Date): Promise<Date | null> {
  const [found] = await queries.$queryRaw<{ newest: Date | null }[]>`
    SELECT greatest(
      (SELECT max(created_at) FROM usage_records WHERE created_at < ${moment}::timestamptz),
      (SELECT max(created_at) FROM request_failures WHERE created_at < ${moment}::timestamptz)
    ) AS newest`;
  return found?.newest ?? null;
}

type Found = Pick<CheckedDay, 'rows' | 'wrongLines'>;

async function compare(queries: Queries, days: CountedDays): Promise<Found> {
  const [found] = await queries.$queryRaw<Found[]>(comparison(days));
  return found ?? { rows: 0, wrongLines: 0 };
}

/** Which lines and rows of the days are still there. */
async function countedDays(queries: Queries, { since, until }: TimeSpan): Promise<CountedDays> {
  const { failuresSince } = await readSumsState(queries);
  return {
    since,
    until,
    hasFailures: failuresSince === null || since >= failuresSince,
    hasHoursOfAll: since >= firstHourOfAll(new Date()),
  };
}

async function repair(queries: Queries, span: TimeSpan): Promise<Found> {
  await keepWritersOut(queries);
  const days = await countedDays(queries, span);
  const found = await compare(queries, days);
  if (found.wrongLines === 0) return found;
  await queries.$executeRaw(correction(days));
  // Without this setting the database does not delete the lines that an earlier version does not know.
  await queries.$executeRaw`SELECT set_config('usage_sums.counts_hours', 'on', true)`;
  await queries.$executeRaw(removal(days));
  return found;
}

/** Rows that are being written are counted after this transaction, on top of its result. Readers are not blocked. */
const keepWritersOut = (queries: Queries): Promise<unknown> =>
  queries.$executeRaw`LOCK TABLE usage_sums IN EXCLUSIVE MODE`;

const startOfDay = (moment: Date): number => Math.floor(moment.getTime() / DAY_MS) * DAY_MS;

const dayAt = (start: number): TimeSpan => ({
  since: new Date(start),
  until: new Date(start + DAY_MS),
});

const dateOf = (moment: Date): string => moment.toISOString().slice(0, DATE_CHARS);
