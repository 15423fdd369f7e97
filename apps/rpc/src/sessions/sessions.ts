import { sessionChannel, sessionOwnerKey } from '@model-gateway/contracts';
import type { Channels, Entries, Log, Subscription } from '@model-gateway/kernel';
import { createSessionListeners } from './session-listeners.ts';

/** Notification sessions: what is pushed on one replica reaches the listener on whichever replica it is. */
export interface Sessions {
  /**
   * Pushes a message, or several that arrive one by one and in order, each on a line of its own. A failure is logged and
   * never the caller's problem.
   */
  push(sessionId: string, lines: string): Promise<void>;
  /** Resolves when the subscription is live; whoever waits for a listener of the session then has one. */
  listen(sessionId: string, onMessage: (message: string) => void): Promise<Subscription>;
  /** The user whom a session belongs to, where it belongs to anybody. */
  ownerOf(sessionId: string): Promise<string | undefined>;
  /** Makes a session the user's: nobody else who says who they are may listen. */
  own(sessionId: string, userId: string): Promise<void>;
  /** Calls back once, as soon as somebody begins to listen, on whichever replica; the answer stops that. */
  onListener(sessionId: string, onListener: () => void): () => void;
  /** Waits from now on: true when somebody listens, on whichever replica, false when nobody does by the end of the time. */
  awaitListener(sessionId: string, timeoutMs: number): Promise<boolean>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface SessionsDependencies {
  readonly channels: Channels;
  /** Where owners of sessions are written down. */
  readonly entries: Pick<Entries, 'get' | 'put'>;
  readonly log: Log;
}

/** Longer than anything that is listened to lasts. */
const OWNED_MS = 24 * 60 * 60 * 1000;
const LINE_END = '\n';

export function createSessions({ channels, entries, log }: SessionsDependencies): Sessions {
  const listeners = createSessionListeners({ channels, log });
  return {
    async push(sessionId, lines) {
      try {
        await channels.publish(sessionChannel(sessionId), lines);
      } catch (error) {
        log.warn({ error }, 'a notification could not be published');
      }
    },
    async listen(sessionId, onMessage) {
      const subscription = await channels.subscribe(sessionChannel(sessionId), (lines) => {
        if (!lines.includes(LINE_END)) onMessage(lines);
        else for (const message of lines.split(LINE_END)) onMessage(message);
      });
      listeners.announce(sessionId);
      return subscription;
    },
    ownerOf: (sessionId) => entries.get(sessionOwnerKey(sessionId)),
    own: (sessionId, userId) =>
      entries.put(sessionOwnerKey(sessionId), userId, { expiresAfterMs: OWNED_MS }),
    onListener: (sessionId, onListener) => listeners.onListener(sessionId, onListener),
    awaitListener: (sessionId, timeoutMs) => listeners.wait(sessionId, timeoutMs),
    start: () => listeners.start(),
    stop: () => listeners.stop(),
  };
}
