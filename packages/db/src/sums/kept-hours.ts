/** Tables of sums by the hour that are almost as many as the rows, and for how many months before the current one they are kept. */
const MONTHS_KEPT: Readonly<Record<string, number>> = {
  // A chart has up to 2,400 hours.
  usage_by_account_hour: 4,
  usage_by_all_hour: 2,
};
export const TABLES_OF_HOURS: readonly string[] = Object.keys(MONTHS_KEPT);

/** From this moment on the table has its hours, before it the rows are read; undefined for one that keeps all. */
export function firstHourOf(table: string, now: Date): Date | undefined {
  const months = MONTHS_KEPT[table];
  return months === undefined
    ? undefined
    : new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months));
}
