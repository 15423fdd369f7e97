import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { Prisma, type PrismaClient } from '../generated/client.ts';
import { copyRows } from './copy-rows.ts';
import { classifyFailure, translateFailure } from './store-failure.ts';

const ATTEMPTS_MAX = 6;
const FIRST_PAUSE_MS = 10;
const TRANSACTION_WAIT_MS_MAX = 10_000;
const TRANSACTION_MS_MAX = 15_000;

/** The queries that an adapter may make, inside or outside of a transaction. */
export type Queries = Prisma.TransactionClient;

/** The part of them that works without Prisma as well. */
export interface RawQueries {
  $queryRaw<Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<Rows>;
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>;
  /** Runs a `COPY … FROM STDIN`, with rows in its text format; a transaction of Prisma cannot. */
  readonly copy?: (statement: string, rows: string) => Promise<void>;
}

/** How an adapter accesses the database, inside or outside of an open transaction. */
export interface Connection {
  run<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** All or nothing. The work runs again when Postgres reports a conflict with another transaction. */
  transaction<Result>(
    work: (queries: Queries) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * The same without Prisma, for statements with thousands of values: Prisma would look at each several times. Inside of an open
   * transaction the work joins it.
   */
  rawTransaction<Result>(work: (queries: RawQueries) => Promise<Result>): Promise<Result>;
  /** Whether a failed statement fails all that comes after it. */
  readonly isInTransaction: boolean;
}

interface TransactionOptions {
  /** How long it may take; 15 seconds by default. */
  readonly timeoutMs?: number;
  /** Whether all its statements see the database as it was at the first one. */
  readonly isSnapshot?: boolean;
}

/** Each call runs by itself; `transaction` opens a transaction. */
export function createConnection(prisma: PrismaClient, pool: Pool): Connection {
  return {
    async run(work) {
      try {
        return await work(prisma);
      } catch (error) {
        throw translateFailure(error);
      }
    },
    transaction: (work, { timeoutMs = TRANSACTION_MS_MAX, isSnapshot = false } = {}) =>
      untilNoConflict(() =>
        prisma.$transaction(work, {
          maxWait: TRANSACTION_WAIT_MS_MAX,
          timeout: timeoutMs,
          ...(isSnapshot ? { isolationLevel: 'RepeatableRead' } : {}),
        }),
      ),
    rawTransaction: (work) => untilNoConflict(() => transactionOn(pool, work)),
    isInTransaction: false,
  };
}

async function untilNoConflict<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction();
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || classifyFailure(error).kind !== 'conflict')
        throw translateFailure(error);
      // Random pauses, so that the same transactions do not conflict again.
      await delay(FIRST_PAUSE_MS * 2 ** attempt * Math.random());
    }
  }
}

/** A connection that does not roll back is closed, which ends its transaction as well. */
async function transactionOn<Result>(
  pool: Pool,
  work: (queries: RawQueries) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  // A connection that is lost between two statements fails the next one; without a listener it would end the process.
  client.on('error', ignoreLoss);
  let isUsable = false;
  try {
    await client.query('BEGIN');
    const result = await work(rawQueriesOn(client));
    await client.query('COMMIT');
    isUsable = true;
    return result;
  } catch (error) {
    // After an error of another kind, such as a time limit, a statement may still be running.
    if (error instanceof DatabaseError)
      isUsable = await client.query('ROLLBACK').then(
        () => true,
        () => false,
      );
    throw error;
  } finally {
    client.release(!isUsable);
    client.off('error', ignoreLoss);
  }
}

const ignoreLoss = (): void => undefined;

function rawQueriesOn(client: PoolClient): RawQueries {
  const run = (query: TemplateStringsArray | Prisma.Sql, values: readonly unknown[]) => {
    const { text, values: parameters } =
      query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
    return client.query({ text, values: parameters });
  };
  return {
    // As with Prisma, the caller says which rows the statement returns.
    $queryRaw: async <Rows>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) =>
      (await run(query, values)).rows as Rows,
    $executeRaw: async (query, ...values) => (await run(query, values)).rowCount ?? 0,
    copy: (statement, rows) => copyRows(client, statement, rows),
  };
}

/** Everything runs inside the open transaction. */
export function joinTransaction(queries: Queries): Connection {
  return {
    run: (work) => work(queries),
    transaction: (work) => work(queries),
    rawTransaction: (work) => work(queries),
    isInTransaction: true,
  };
}
