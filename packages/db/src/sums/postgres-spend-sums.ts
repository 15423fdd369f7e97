import type { CheckedDay, SpendSumsStore, TimeSpan } from '@model-gateway/billing';
import type { Connection, Queries } from '../connection/connection.ts';
import { LONG_QUERY_MS_MAX } from '../connection/long-queries.ts';
import { Prisma } from '../generated/client.ts';
import { logKeptSince } from '../request-log/log-state.ts';
import { ensurePartitions } from '../usage/partitions.ts';
import { takeSettlementLock } from '../usage/settlement-lock.ts';
import {
  addFolded,
  foldLines,
  lineKey,
  SUM_TABLES,
  type FoldedLine,
  type SumTable,
} from './sum-tables.ts';
import { noSums, type UsageLine } from './usage-lines.ts';
import { readDayLines, readKeptLines, type LinesByKey } from './day-lines.ts';
import { firstHourOf, TABLES_OF_HOURS } from './kept-hours.ts';

const DAY_MS = 86_400_000;
/** A day of a busy service has millions of rows. */
const TIMEOUT = { timeoutMs: LONG_QUERY_MS_MAX };
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
            (SELECT min(since) FROM usage_by_all_day)
          ) AS first,
          greatest(
            (SELECT max(created_at) FROM usage_records),
            (SELECT max(created_at) FROM request_failures),
            (SELECT max(since) FROM usage_by_all_day)
          ) AS last`,
    );
    if (range === undefined || range.first === null || range.last === null) return;
    const first = startOfDay(range.first);
    for (let day = startOfDay(range.last); day >= first; day -= DAY_MS) {
      const span = { since: new Date(day), until: new Date(day + DAY_MS) };
      const found = await connection.transaction(
        (queries) => checkDay(queries, span, repairs),
        repairs ? TIMEOUT : { ...TIMEOUT, isSnapshot: true },
      );
      if (found.rows > 0 || found.wrongLines > 0) yield { day: dateOf(span.since), ...found };
    }
  }

  return {
    check,
    forgetHours: (now) =>
      connection.transaction(async (queries) => {
        // Nothing adds to a partition while it goes.
        await takeSettlementLock(queries);
        let dropped = 0;
        for (const table of TABLES_OF_HOURS) {
          // A day later than they are last read.
          const first = firstHourOf(table, new Date(now.getTime() - DAY_MS));
          const [row] = await queries.$queryRaw<{ count: number }[]>`
            SELECT usage_drop_partitions(${table}, ${first}::date) AS count`;
          dropped += row?.count ?? 0;
        }
        return dropped;
      }),
  };
}

/** Compares the lines of a day with its rows, and replaces those of a table that differ. */
async function checkDay(
  queries: Queries,
  span: TimeSpan,
  repairs: boolean,
): Promise<Pick<CheckedDay, 'rows' | 'wrongLines'>> {
  // Rows that are being written are counted after this transaction, on top of its result. Readers are not blocked.
  if (repairs) {
    await takeSettlementLock(queries);
    await ensurePartitions(queries, [span.since.toISOString()]);
  }
  const keptSince = await logKeptSince(queries);
  const hasFailures = keptSince === null || span.since >= keptSince;
  const lines = await readDayLines(queries, span, hasFailures);
  const now = new Date();
  let wrongLines = 0;
  for (const table of SUM_TABLES) {
    const firstHour = firstHourOf(table.name, now);
    if (firstHour !== undefined && span.since < firstHour) continue;
    const kept = await readKeptLines(queries, table, span);
    const expected = expectedLines(table, lines, hasFailures ? new Map() : kept);
    const wrong = differences(expected, kept);
    wrongLines += wrong;
    if (repairs && wrong > 0) await replace(queries, table, span, [...expected.values()]);
  }
  return { rows: lines.reduce((sum, { requests }) => sum + requests, 0), wrongLines };
}

/** What the rows say. Where failed requests were deleted, the kept lines are all that is known of them. */
function expectedLines(
  table: SumTable,
  lines: readonly UsageLine[],
  known: LinesByKey,
): ReadonlyMap<string, FoldedLine> {
  const expected = new Map(
    foldLines(lines, table).map((line) => [lineKey(line.since, line.values), line]),
  );
  for (const [key, { since, values, failed, failedCancelled }] of known) {
    if (failed === 0) continue;
    const line = expected.get(key) ?? { since, values, ...noSums() };
    expected.set(key, { ...line, failed, failedCancelled });
  }
  return expected;
}

/** How many lines are wrong, missing or too much. */
function differences(expected: ReadonlyMap<string, FoldedLine>, kept: LinesByKey): number {
  const keys = new Set([...expected.keys(), ...kept.keys()]);
  return [...keys].filter((key) => !areEqual(expected.get(key), kept.get(key))).length;
}

const areEqual = (one: FoldedLine | undefined, other: FoldedLine | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  Object.entries(one).every(
    ([name, value]) => name === 'values' || value === Reflect.get(other, name),
  );

async function replace(
  queries: Queries,
  table: SumTable,
  { since, until }: TimeSpan,
  lines: readonly FoldedLine[],
): Promise<void> {
  await queries.$executeRaw`
    DELETE FROM ${Prisma.raw(table.name)} WHERE since >= ${since}::timestamptz AND since < ${until}::timestamptz`;
  await addFolded(queries, table, lines);
}

const startOfDay = (moment: Date): number => Math.floor(moment.getTime() / DAY_MS) * DAY_MS;

const dateOf = (moment: Date): string => moment.toISOString().slice(0, DATE_CHARS);
