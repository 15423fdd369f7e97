import type { Changes } from './changes.ts';
import { createRing } from './ring.ts';

/** The tokens that were sent for one request, to compare them with the billed ones. */
export interface Served {
  /** The id of the response. */
  readonly id: string;
  /** The caller's `x-request-id`, when it sent one. */
  readonly requestId: string | undefined;
  readonly model: string;
  readonly promptTokens: number;
  /** The tokens that were sent; fewer than planned if the stream was cut or the client disconnected. */
  readonly completionTokens: number;
  /** Whether the complete response was sent, including its end marker. */
  readonly completed: boolean;
}

/** Totals of all served requests, including those that the list has dropped. */
export interface ServedTotals {
  readonly requests: number;
  readonly completed: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** A limited list of served requests, with totals. */
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
