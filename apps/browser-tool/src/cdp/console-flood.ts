import type { Captures } from '../capture/captures.ts';
import type { CdpEvent, Connection } from './connection.ts';

const MESSAGES_MAX = 1_000;
const WINDOW_MS = 1_000;
const PAUSE_MS = 1_000;

/** Keeps a page that floods its console from keeping us, and itself, from everything else. */
export interface ConsoleFlood {
  /** Whether an event is one of those that are left out. */
  isLeftOut(event: CdpEvent): boolean;
  stop(): void;
}

interface SessionState {
  windowStart: number;
  count: number;
  /** When the newest message was written that we have; the browser tells older ones again. */
  newest: number;
  pause: NodeJS.Timeout | undefined;
}

/** Stops listening to a session for a while when it writes more than a thousand messages a second. */
export function createConsoleFlood(connection: Connection, captures: Captures): ConsoleFlood {
  const sessions = new Map<string, SessionState>();

  function resume(sessionId: string, state: SessionState): void {
    clearTimeout(state.pause);
    state.pause = undefined;
    state.windowStart = performance.now();
    state.count = 0;
    // The session may be gone by now.
    connection.send('Runtime.enable', undefined, sessionId).catch(() => undefined);
  }

  function pause(sessionId: string, state: SessionState, url: string): void {
    state.pause = setTimeout(() => resume(sessionId, state), PAUSE_MS);
    connection.send('Runtime.disable', undefined, sessionId).catch(() => undefined);
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
    const state = sessions.get(sessionId) ?? {
      windowStart: now,
      count: 0,
      newest: 0,
      pause: undefined,
    };
    sessions.set(sessionId, state);
    const { timestamp, stackTrace } = event.params;
    if (state.pause !== undefined || timestamp <= state.newest) return true;
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
      if (state?.pause !== undefined) resume(event.sessionId ?? '', state);
      return false;
    },
    stop() {
      for (const { pause: timer } of sessions.values()) clearTimeout(timer);
      sessions.clear();
    },
  };
}
