/** Why a request is not sent to a backend that lists its model. */
export type SkipReason =
  | 'unhealthy'
  | 'circuit_open'
  | 'cooling'
  | 'key_refused'
  | 'model_not_listed'
  | 'full'
  | 'not_preferred'
  | 'no_capability'
  | 'tried';

/** A backend that could have served a request and was skipped. */
export interface SkippedTarget {
  readonly backend: string;
  /** As that backend lists it. */
  readonly model: string;
  readonly reason: SkipReason;
}

/** What is known and kept of the choices of one request. */
export interface ChoiceTrace {
  /** Whether the library of the client repeats a request that failed. */
  readonly isRepeat?: boolean | undefined;
  /** Undefined for most requests: nothing was skipped. */
  skipped: SkippedTarget[] | undefined;
}

/** Notes a backend once, with the first reason. One that was tried is no skipped one. */
export function noteSkipped(trace: ChoiceTrace, skipped: SkippedTarget): void {
  const { backend, model, reason } = skipped;
  if (reason === 'tried') return;
  trace.skipped ??= [];
  if (trace.skipped.some((one) => one.backend === backend && one.model === model)) return;
  trace.skipped.push(skipped);
}
