import type { Queries } from '../connection/connection.ts';

/** Before this moment, failed requests and attempts may have been deleted; null where none have. */
export const logKeptSince = async (queries: Queries): Promise<Date | null> =>
  (await queries.requestLogState.findFirst())?.keptSince ?? null;
