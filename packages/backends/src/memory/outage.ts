import type { Clock } from '@model-gateway/kernel';

/** Prevents that callers wait, one after another, for a service that is unavailable. */
export interface Outage {
  /** Whether the service must not be called now. */
  readonly isPaused: boolean;
  /**
   * Undefined when the caller should not wait for the service now. After a pause one caller tests for all whether the outage
   * is over; it calls the returned function when done.
   */
  tryCall(): (() => void) | undefined;
  failed(): void;
  over(): void;
}

interface OutageRules {
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
}

export function createOutage(clock: Clock, { firstPauseMs, pauseMsMax }: OutageRules): Outage {
  let pauseMs = 0;
  let pausedUntil = 0;
  let isBeingTried = false;

  const isPaused = (): boolean => clock.now() < pausedUntil;
  return {
    get isPaused() {
      return isPaused();
    },
    tryCall() {
      if (pauseMs === 0) return () => undefined;
      if (isPaused() || isBeingTried) return undefined;
      isBeingTried = true;
      return () => {
        isBeingTried = false;
      };
    },
    failed() {
      // Calls that waited at the same time fail together, and count once.
      if (isPaused()) return;
      pauseMs = pauseMs === 0 ? firstPauseMs : Math.min(pauseMs * 2, pauseMsMax);
      pausedUntil = clock.now() + pauseMs;
    },
    over() {
      pauseMs = 0;
      pausedUntil = 0;
    },
  };
}
