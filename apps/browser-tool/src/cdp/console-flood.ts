import type { Captures } from '../capture/captures.ts';
import type { CdpEvent, Connection } from './connection.ts';

const MESSAGES_MAX = 1_000;
const WINDOW_MS = 1_000;
const PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 8_000;
// A page that wrote little for so long begins anew with the shortest pause.
const CALM_MS = 5_000;

/** Keeps a page that floods its console from keeping us, and itself, from everything else. */
export interface ConsoleFlood {
  /** Whether an event is one of those that are left out. */
  isLeftOut(event: CdpEvent): boolean;
  stop(): void;
}

interface SessionState {
  windowStart: number;
  resumedAt: number;
  count: number;
  /** When the newest message was written that we have. */
  newest: number;
  /** The browser tells again what it remembers, and has not finished. */
  isCatchingUp: boolean;
  isPaused: boolean;
  pauseMs: number;
  pause: NodeJS.Timeout | undefined;
}

/** Stops listening to a session for a while when it writes more than a thousand messages a second, for longer each time. */
export function createConsoleFlood(connection: Connection, captures: Captures): ConsoleFlood {
  const sessions = new Map<string, SessionState>();

  function resume(sessionId: string, state: SessionState): void {
    clearTimeout(state.pause);
    state.isPaused = false;
    state.windowStart = performance.now();
    state.resumedAt = state.windowStart;
    state.count = 0;
    state.isCatchingUp = true;
    // The session may be gone by now.
    connection.send('Runtime.enable', undefined, sessionId).then(
      () => (state.isCatchingUp = false),
      () => undefined,
    );
  }

  function pause(sessionId: string, state: SessionState, url: string): void {
    const isCalmed = performance.now() - state.resumedAt > CALM_MS;
    const pauseMs = isCalmed ? PAUSE_MS : state.pauseMs;
    state.isPaused = true;
    state.pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX);
    // What was on its way is still coming: the pause begins once the browser has heard of it.
    const wait = (): void => {
      if (!state.isPaused) return;
      state.pause = setTimeout(() => resume(sessionId, state), pauseMs).unref();
    };
    connection.send('Runtime.disable', undefined, sessionId).then(wait, () => undefined);
    captures.console.add({
      level: 'warning',
      text: `The page wrote more than ${MESSAGES_MAX} messages in a second; some of them are left out.`,
      source: 'console',
      url,
      line: null,
      column: null,
    });
  }

  function isTooMuch(event: CdpEvent & { readonly method: 'Runtime.consoleAPICalled' }): boolean {
    const sessionId = event.sessionId ?? '';
    const now = performance.now();
    const state = sessions.get(sessionId) ?? freshState(now);
    sessions.set(sessionId, state);
    const { timestamp, stackTrace } = event.params;
    if (state.isPaused || (state.isCatchingUp && timestamp <= state.newest)) return true;
    if (now - state.windowStart > WINDOW_MS) {
      state.windowStart = now;
      state.count = 0;
    }
    state.count += 1;
    state.newest = timestamp;
    if (state.count > MESSAGES_MAX) pause(sessionId, state, stackTrace?.callFrames[0]?.url ?? '');
    return false;
  }

  return {
    isLeftOut(event) {
      if (event.method === 'Runtime.consoleAPICalled') return isTooMuch(event);
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

function freshState(now: number): SessionState {
  return {
    windowStart: now,
    resumedAt: now,
    count: 0,
    newest: 0,
    isCatchingUp: false,
    isPaused: false,
    pauseMs: PAUSE_MS,
    pause: undefined,
  };
}
