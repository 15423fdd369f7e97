import type { Clock } from '@model-gateway/kernel';
import type { NextStep, StepMemo } from './job-queue.ts';

/** How often upstreams are queried, and how long a job may take. */
export interface VideoTiming {
  /** When a job without failures is processed again. */
  readonly next: NextStep;
  readonly pollMs: number;
  /** When a job is processed again after an upstream failure: later after each consecutive one. */
  afterFailure(memo: StepMemo): NextStep;
  /** Whether the time limit since `since` has passed. */
  isExpired(since: Date): boolean;
  /** How long a job may still take; 0 or less when the limit has passed. */
  remainingMs(since: Date): number;
  /** The error text of an expired job. */
  readonly expiredText: string;
}

interface VideoTimingOptions {
  readonly pollMs: number;
  readonly timeoutSecs: number;
  readonly clock: Clock;
}

const BACKOFF_MS_MAX = 30_000;
const DOUBLINGS_MAX = 20;
const SECOND_MS = 1_000;

export function createVideoTiming({ pollMs, timeoutSecs, clock }: VideoTimingOptions): VideoTiming {
  const remainingMs = (since: Date): number =>
    since.getTime() + timeoutSecs * SECOND_MS - clock.now();

  return {
    next: { afterMs: pollMs },
    pollMs,
    afterFailure(memo) {
      const failures = (memo.failures ?? 0) + 1;
      const doubled = pollMs * 2 ** Math.min(failures, DOUBLINGS_MAX);
      const afterMs = Math.max(pollMs, Math.min(doubled, BACKOFF_MS_MAX));
      return { afterMs, memo: { ...memo, failures } };
    },
    isExpired: (since) => remainingMs(since) < 0,
    remainingMs,
    expiredText: `not finished within ${timeoutSecs} s`,
  };
}
