import type { Clock } from '@model-gateway/kernel';

/** Keeps callers from waiting, one after another, for a service that is away. */
export interface Outage {
  /** Whether the service is to be left alone right now. */
  readonly isPaused: boolean;
  /**
   * Undefined for whoever should not wait for the service now. After a pause that is everyone but one, who finds out
   * for all whether the outage is over; what it is given here is called when it has.
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
      // Those who waited at the same time fail together, and count once.
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
