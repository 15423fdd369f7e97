import type { Clock } from '@model-gateway/kernel';
import type { NextTurn, StepMemo } from './video-queue.ts';

/** How often upstreams are asked, and how long a job may take. */
export interface VideoPace {
  /** When a job is looked at again that nothing is wrong with. */
  readonly next: NextTurn;
  readonly pollMs: number;
  /** When a job is looked at again that an upstream has failed: later each time in a row. */
  afterFailure(memo: StepMemo): NextTurn;
  /** Whether a job has taken too long since then. */
  isOver(since: Date): boolean;
  /** How long a job may still take; not above 0 when it has taken too long. */
  leftMs(since: Date): number;
  /** What is said of it. */
  readonly overText: string;
}

interface VideoPaceOptions {
  readonly pollMs: number;
  readonly timeoutSecs: number;
  readonly clock: Clock;
}

const BACKOFF_MS_MAX = 30_000;
const DOUBLINGS_MAX = 20;
const SECOND_MS = 1_000;

export function createVideoPace({ pollMs, timeoutSecs, clock }: VideoPaceOptions): VideoPace {
  const leftMs = (since: Date): number => since.getTime() + timeoutSecs * SECOND_MS - clock.now();

  return {
    next: { afterMs: pollMs },
    pollMs,
    afterFailure(memo) {
      const failures = (memo.failures ?? 0) + 1;
      const doubled = pollMs * 2 ** Math.min(failures, DOUBLINGS_MAX);
      const afterMs = Math.max(pollMs, Math.min(doubled, BACKOFF_MS_MAX));
      return { afterMs, memo: { ...memo, failures } };
    },
    isOver: (since) => leftMs(since) < 0,
    leftMs,
    overText: `not finished within ${timeoutSecs} s`,
  };
}
