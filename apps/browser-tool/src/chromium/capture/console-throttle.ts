import type { CdpConnection, CdpEvent } from '../cdp-connection.ts';

// Well above what the console log stores, so that only continuous output is paused.
const MESSAGES_MAX = 2_000;
const WINDOW_MS = 1_000;
const PAUSE_MS = 4_000;

/** Pauses the console events of a page that writes too much, so that the tool and the page stay responsive. */
export interface ConsoleThrottle {
  /** Whether an event was captured before and must be ignored. */
  isRepeated(event: CdpEvent): boolean;
  stop(): void;
}

interface SessionState {
  windowStart: number;
  count: number;
  /** The time of the newest captured message. */
  newest: number;
  /** While the browser repeats messages after a pause, those up to this time are known. */
  knownUntil: number;
  isPaused: boolean;
  pause: NodeJS.Timeout | undefined;
}

/**
 * Disables the console events of a session for a while when it writes more than the limit for a second. Afterwards the browser
 * repeats the newest messages, which it stores.
 */
export function createConsoleThrottle(connection: CdpConnection): ConsoleThrottle {
  const sessions = new Map<string, SessionState>();
  // The session may have ended.
  const ignore = (): void => undefined;

  function resume(sessionId: string, state: SessionState): void {
    clearTimeout(state.pause);
    Object.assign(state, { isPaused: false, windowStart: performance.now(), count: 0 });
    state.knownUntil = state.newest;
    const finish = (): void => void (state.knownUntil = 0);
    connection.send('Runtime.enable', undefined, sessionId).then(finish, ignore);
  }

  function pause(sessionId: string, state: SessionState): void {
    state.isPaused = true;
    // Messages that were already sent are still captured: the pause starts when the browser confirms.
    const wait = (): void => {
      if (state.isPaused)
        state.pause = setTimeout(() => resume(sessionId, state), PAUSE_MS).unref();
    };
    connection.send('Runtime.disable', undefined, sessionId).then(wait, ignore);
  }

  function isKnown(sessionId: string, timestamp: number): boolean {
    const now = performance.now();
    const state = sessions.get(sessionId) ?? freshState();
    sessions.set(sessionId, state);
    if (timestamp <= state.knownUntil) return true;
    if (now - state.windowStart > WINDOW_MS) Object.assign(state, { windowStart: now, count: 0 });
    state.count += 1;
    state.newest = timestamp;
    if (state.count > MESSAGES_MAX && !state.isPaused) pause(sessionId, state);
    return false;
  }

  return {
    isRepeated({ method, params, sessionId = '' }) {
      switch (method) {
        case 'Runtime.consoleAPICalled':
        case 'Runtime.exceptionThrown':
          return isKnown(sessionId, params.timestamp);
        case 'Page.frameNavigated': {
          // The messages of a new document must be captured.
          const state = sessions.get(sessionId);
          if (state?.isPaused === true) resume(sessionId, state);
          return false;
        }
        default:
          return false;
      }
    },
    stop() {
      for (const state of sessions.values()) {
        state.isPaused = false;
        clearTimeout(state.pause);
      }
      sessions.clear();
    },
  };
}

function freshState(): SessionState {
  return { windowStart: 0, count: 0, newest: 0, knownUntil: 0, isPaused: false, pause: undefined };
}
