import type { Changes } from './changes.ts';
import { createRing } from './ring.ts';

/** The tokens that really went out for one request, so that a bill can be compared with the truth. */
export interface Served {
  /** The id of the answer, as the client saw it. */
  readonly id: string;
  /** The caller's `x-request-id`, when it sent one. */
  readonly requestId: string | undefined;
  readonly model: string;
  readonly promptTokens: number;
  /** Tokens written to the wire, fewer than planned when the stream was cut or the client left. */
  readonly completionTokens: number;
  /** Whether the whole answer went out, its end mark included. */
  readonly completed: boolean;
}

/** Sums over every request ever served, also those that the list has forgotten. */
export interface ServedTotals {
  readonly requests: number;
  readonly completed: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** A bounded list of what was served, with running totals. */
export interface ServedLog {
  record(entry: Served): void;
  readonly served: readonly Served[];
  readonly totals: ServedTotals;
}

const KEPT_SERVED_MAX = 1_000;

export function createServedLog(changes: Changes): ServedLog {
  const ring = createRing<Served>({ itemsMax: KEPT_SERVED_MAX });
  let completed = 0;
  let promptTokens = 0;
  let completionTokens = 0;
  return {
    record(entry) {
      ring.push(entry);
      completed += entry.completed ? 1 : 0;
      promptTokens += entry.promptTokens;
      completionTokens += entry.completionTokens;
      changes.notify();
    },
    get served() {
      return ring.toArray();
    },
    get totals() {
      return { requests: ring.count, completed, promptTokens, completionTokens };
    },
  };
}
