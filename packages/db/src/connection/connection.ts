import { setTimeout as delay } from 'node:timers/promises';
import type { Prisma, PrismaClient } from '../generated/client.ts';
import { classifyFailure, translateFailure } from './store-failure.ts';

const ATTEMPTS_MAX = 6;
const FIRST_PAUSE_MS = 10;
const TRANSACTION_WAIT_MS_MAX = 10_000;
const TRANSACTION_MS_MAX = 15_000;

/** The queries that an adapter may make, inside or outside of a transaction. */
export type Queries = Prisma.TransactionClient;

/** How an adapter accesses the database, inside or outside of an open transaction. */
export interface Connection {
  run<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** All or nothing. The work runs again when Postgres reports a conflict with another transaction. */
  transaction<Result>(
    work: (queries: Queries) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
}

interface TransactionOptions {
  /** How long it may take; 15 seconds by default. */
  readonly timeoutMs?: number;
}

/** Each call runs by itself; `transaction` opens a transaction. */
export function createConnection(prisma: PrismaClient): Connection {
  return {
    async run(work) {
      try {
        return await work(prisma);
      } catch (error) {
        throw translateFailure(error);
      }
    },
    async transaction(work, { timeoutMs = TRANSACTION_MS_MAX } = {}) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await prisma.$transaction(work, {
            maxWait: TRANSACTION_WAIT_MS_MAX,
            timeout: timeoutMs,
          });
        } catch (error) {
          if (attempt === ATTEMPTS_MAX || classifyFailure(error).kind !== 'conflict')
            throw translateFailure(error);
          // Random pauses, so that the same transactions do not conflict again.
          await delay(FIRST_PAUSE_MS * 2 ** attempt * Math.random());
        }
      }
    },
  };
}

/** Everything runs inside the open transaction. */
export function joinTransaction(queries: Queries): Connection {
  return {
    run: (work) => work(queries),
    transaction: (work) => work(queries),
  };
}
