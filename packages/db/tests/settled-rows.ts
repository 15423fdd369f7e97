import type { SettledRow } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import type { RawQueries } from '../src/connection/connection.ts';
import { Prisma } from '../src/generated/client.ts';
import { ensurePartitions } from '../src/usage/partitions.ts';
import { addUsageRows } from '../src/usage/usage-rows.ts';
import type { TestDatabase } from './test-database.ts';
import { usageEvent } from './usage-event.ts';

/** A settled row of a test. */
export const settledRow = (
  values: Partial<UsageEvent>,
  points: number | null = null,
): SettledRow => ({ event: usageEvent(values), points, accountType: null });

/** Stores and counts rows as the recorder does, but with the points that a test says. */
export async function addSettledRows(
  { query }: Pick<TestDatabase, 'query'>,
  rows: readonly SettledRow[],
): Promise<void> {
  await query('BEGIN');
  try {
    const queries = queriesOn(query);
    await ensurePartitions(
      queries,
      rows.map(({ event }) => event.created_at),
    );
    await addUsageRows(queries, rows);
    await query('COMMIT');
  } catch (error) {
    await query('ROLLBACK');
    throw error;
  }
}

function queriesOn(query: TestDatabase['query']): RawQueries {
  const run = (given: TemplateStringsArray | Prisma.Sql, values: readonly unknown[]) => {
    const statement = given instanceof Prisma.Sql ? given : Prisma.sql(given, ...values);
    return query(statement.text, statement.values);
  };
  return {
    $queryRaw: async <Rows>(given: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) =>
      (await run(given, values)) as Rows,
    $executeRaw: async (given, ...values) => (await run(given, values)).length,
  };
}
