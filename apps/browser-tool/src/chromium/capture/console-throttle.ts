import type { Captures } from '../../capture/captures.ts';
import type { CdpEvent, CdpConnection } from '../cdp-connection.ts';

// Well above what the console log stores, so that only continuous output is paused.
const MESSAGES_MAX = 2_000;
const WINDOW_MS = 1_000;
// A tool that reads more slowly than the page writes gets ever older messages, and its commands wait behind them.
const LAG_MS_MAX = 1_000;
const LATE_MESSAGES_MAX = 200;
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 4_000;
// After this time without too many messages the shortest pause applies again.
const QUIET_MS = 5_000;
/** How many messages of a page the browser stores. */
const REMEMBERED_MAX = 1_000;

/** Pauses the console events of a page that writes too much, so that the tool and the page stay responsive. */
export interface ConsoleThrottle {
  /** Whether an event was captured before and must be ignored. */
  isRepeated(event: CdpEvent): boolean;
  stop(): void;
}

interface SessionState {
  windowStart: number;
  resumedAt: number;
  count: number;
  /** The time of the newest captured message. */
  newest: number;
  /** The messages that the browser repeats after a pause, until it has finished. */
  replay: Replay | undefined;
  isPaused: boolean;
  pauseMs: number;
  pause: NodeJS.Timeout | undefined;
}

interface Replay {
  /** The time of the newest message before the pause. */
  readonly after: number;
  /** How many messages are new. */
  count: number;
  first: number;
  last: number;
}

type Message = CdpEvent & {
  readonly method: 'Runtime.consoleAPICalled' | 'Runtime.exceptionThrown';
};

/**
 * Disables the console events of a session for a while when it writes too much, longer each time. Afterwards the browser repeats
 * the messages that it stored; how many it dropped is estimated from the rate of the others.
 */
export function createConsoleThrottle(
  connection: CdpConnection,
  captures: Captures,
): ConsoleThrottle {
  const sessions = new Map<string, SessionState>();

  function resume(sessionId: string, state: SessionState): void {
    clearTimeout(state.pause);
    state.isPaused = false;
    state.windowStart = performance.now();
    state.resumedAt = state.windowStart;
    state.count = 0;
    const replay: Replay = { after: state.newest, count: 0, first: 0, last: 0 };
    state.replay = replay;
    const finish = (): void => {
      if (state.replay === replay) state.replay = undefined;
      captures.console.addMissed(countForgotten(replay));
    };
    // The session may have ended.
    connection.send('Runtime.enable', undefined, sessionId).then(finish, () => undefined);
  }

  function pause(sessionId: string, state: SessionState): void {
    const isQuiet = performance.now() - state.resumedAt > QUIET_MS;
    const pauseMs = isQuiet ? PAUSE_MS : state.pauseMs;
    state.isPaused = true;
    state.pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    // Messages that were already sent are still captured: the pause starts when the browser confirms.
    const wait = (): void => {
      if (!state.isPaused) return;
      state.pause = setTimeout(() => resume(sessionId, state), pauseMs).unref();
    };
    connection.send('Runtime.disable', undefined, sessionId).then(wait, () => undefined);
  }

  /** Counts a message and returns whether it is already captured. */
  function isAlreadyCaptured({ sessionId = '', params: { timestamp } }: Message): boolean {
    const now = performance.now();
    const state = sessions.get(sessionId) ?? freshState(now);
    sessions.set(sessionId, state);
    const { replay } = state;
    if (replay !== undefined) {
      if (timestamp <= replay.after) return true;
      if (replay.count === 0) replay.first = timestamp;
      replay.count += 1;
      replay.last = timestamp;
    }
    if (now - state.windowStart > WINDOW_MS) {
      state.windowStart = now;
      state.count = 0;
    }
    state.count += 1;
    state.newest = timestamp;
    const isLate = replay === undefined && Date.now() - timestamp > LAG_MS_MAX;
    const max = isLate ? LATE_MESSAGES_MAX : MESSAGES_MAX;
    if (state.count > max && !state.isPaused) pause(sessionId, state);
    return false;
  }

  return {
    isRepeated(event) {
      if (event.method === 'Runtime.consoleAPICalled') return isAlreadyCaptured(event);
      if (event.method === 'Runtime.exceptionThrown') return isAlreadyCaptured(event);
      // The messages of a new document must be captured.
      const state =
        event.method === 'Page.frameNavigated' ? sessions.get(event.sessionId ?? '') : undefined;
      if (state?.isPaused === true) resume(event.sessionId ?? '', state);
      return false;
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

/** Estimates how many messages of a pause the browser dropped. */
function countForgotten({ after, count, first, last }: Replay): number {
  if (count < REMEMBERED_MAX || last <= first) return 0;
  return Math.round(((first - after) / (last - first)) * count);
}

function freshState(now: number): SessionState {
  return {
    windowStart: now,
    resumedAt: now,
    count: 0,
    newest: 0,
    replay: undefined,
    isPaused: false,
    pauseMs: PAUSE_MS,
    pause: undefined,
  };
}
