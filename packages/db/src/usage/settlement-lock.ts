import type { RawQueries } from '../connection/connection.ts';

// No other lock has the number. Migrations of usage take it as well.
const SETTLEMENT_LOCK = 72_707_370n;

/** Until the transaction ends, nothing else settles, counts or repairs usage. */
export const takeSettlementLock = (queries: RawQueries): Promise<number> =>
  queries.$executeRaw`SELECT pg_advisory_xact_lock(${SETTLEMENT_LOCK})`;
