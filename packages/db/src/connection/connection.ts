import { setTimeout as delay } from 'node:timers/promises';
import type { Prisma, PrismaClient } from '../generated/client.ts';
import { classifyFailure, translateFailure } from './store-failure.ts';

const ATTEMPTS_MAX = 6;
const FIRST_PAUSE_MS = 10;
const TRANSACTION_WAIT_MS_MAX = 5_000;
const TRANSACTION_MS_MAX = 15_000;

/** The queries that an adapter may make, inside or outside of a transaction. */
export type Queries = Prisma.TransactionClient;

/** How an adapter reaches the database, without knowing whether a transaction is already open around it. */
export interface Connection {
  run<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  /** All or nothing. The work may run more than once: it is repeated when Postgres found it in conflict with another. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
}

/** Every call is its own; a transaction opens one. */
export function createConnection(prisma: PrismaClient): Connection {
  return {
    async run(work) {
      try {
        return await work(prisma);
      } catch (error) {
        throw translateFailure(error);
      }
    },
    async transaction(work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await prisma.$transaction(work, {
            maxWait: TRANSACTION_WAIT_MS_MAX,
            timeout: TRANSACTION_MS_MAX,
          });
        } catch (error) {
          if (attempt === ATTEMPTS_MAX || classifyFailure(error).kind !== 'conflict')
            throw translateFailure(error);
          // Those who collided pause for different times, or they would collide again.
          await delay(FIRST_PAUSE_MS * 2 ** attempt * Math.random());
        }
      }
    },
  };
}

/** Everything happens inside the transaction that is already open. */
export function joinTransaction(queries: Queries): Connection {
  return {
    run: (work) => work(queries),
    transaction: (work) => work(queries),
  };
}
