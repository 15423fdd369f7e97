import type { Queries } from '../connection/connection.ts';

/** How far the kept sums go back; null means that nothing is missing. */
export interface SumsState {
  readonly completeSince: Date | null;
  readonly hoursCompleteSince: Date | null;
  readonly failuresSince: Date | null;
  /** From this moment on, all kept lines have all rows. */
  readonly countedSince: Date | null;
}

export async function readSumsState(queries: Queries): Promise<SumsState> {
  const state = await queries.usageSumsState.findFirst();
  const completeSince = state?.completeSince ?? null;
  const hoursCompleteSince = state?.hoursCompleteSince ?? null;
  return {
    completeSince,
    hoursCompleteSince,
    failuresSince: state?.failuresSince ?? null,
    countedSince: later(completeSince, hoursCompleteSince),
  };
}

const later = (one: Date | null, other: Date | null): Date | null => {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
};
