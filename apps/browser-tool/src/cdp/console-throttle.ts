import type { Captures } from '../capture/captures.ts';
import type { CdpEvent, CdpConnection } from './cdp-connection.ts';

// Well beyond what the console log keeps, so that only what goes on and on is paused.
const MESSAGES_MAX = 2_000;
const WINDOW_MS = 1_000;
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 4_000;
// A page that wrote little for so long begins anew with the shortest pause.
const CALM_MS = 5_000;
/** How many messages the browser itself remembers of a page. */
const REMEMBERED_MAX = 1_000;

/** Keeps a page that floods its console from keeping us, and itself, from everything else. */
export interface ConsoleThrottle {
  /** Whether an event is to be left out, because it was heard before. */
  isRepeated(event: CdpEvent): boolean;
  stop(): void;
}

interface SessionState {
  windowStart: number;
  resumedAt: number;
  count: number;
  /** When the newest message was written that we have. */
  newest: number;
  /** What the browser tells again after a pause, until it has finished. */
  replay: Replay | undefined;
  isPaused: boolean;
  pauseMs: number;
  pause: NodeJS.Timeout | undefined;
}

interface Replay {
  /** When the newest message was written that we had before. */
  readonly after: number;
  /** Messages that are new to us. */
  count: number;
  first: number;
  last: number;
}

type Message = CdpEvent & {
  readonly method: 'Runtime.consoleAPICalled' | 'Runtime.exceptionThrown';
};

/**
 * Stops listening to a session for a while when it writes more than it should, for longer each time. What the browser remembers
 * of the pause is heard afterwards; how much it forgot is only known by how fast the rest was written.
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
    // The session may be gone by now.
    connection.send('Runtime.enable', undefined, sessionId).then(finish, () => undefined);
  }

  function pause(sessionId: string, state: SessionState): void {
    const isCalmed = performance.now() - state.resumedAt > CALM_MS;
    const pauseMs = isCalmed ? PAUSE_MS : state.pauseMs;
    state.isPaused = true;
    state.pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    // What was on its way is still coming, and is kept: the pause begins once the browser has heard of it.
    const wait = (): void => {
      if (!state.isPaused) return;
      state.pause = setTimeout(() => resume(sessionId, state), pauseMs).unref();
    };
    connection.send('Runtime.disable', undefined, sessionId).then(wait, () => undefined);
  }

  /** Counts a message, and says whether we have it already. */
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
    if (state.count > MESSAGES_MAX && !state.isPaused) pause(sessionId, state);
    return false;
  }

  return {
    isRepeated(event) {
      if (event.method === 'Runtime.consoleAPICalled') return isAlreadyCaptured(event);
      if (event.method === 'Runtime.exceptionThrown') return isAlreadyCaptured(event);
      // A new document needs to be heard of.
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

/** About how many messages were written in a pause that the browser no longer remembered at its end. */
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
