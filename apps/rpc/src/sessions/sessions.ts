import { sessionChannel, sessionOwnerKey } from '@model-gateway/contracts';
import type { Channels, Entries, Log, Subscription } from '@model-gateway/kernel';
import { createSessionListeners } from './session-listeners.ts';

/** Notification sessions: what is pushed on one replica reaches the listener on whichever replica it is. */
export interface Sessions {
  /** Pushes the text of one message; a failure is logged and never the caller's problem. */
  push(sessionId: string, message: string): Promise<void>;
  /** Resolves when the subscription is live; whoever waits for a listener of the session then has one. */
  listen(sessionId: string, onMessage: (message: string) => void): Promise<Subscription>;
  /** The user whom a session belongs to, where it belongs to anybody. */
  ownerOf(sessionId: string): Promise<string | undefined>;
  /** Makes a session the user's: nobody else who says who they are may listen. */
  own(sessionId: string, userId: string): Promise<void>;
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

export function createSessions({ channels, entries, log }: SessionsDependencies): Sessions {
  const listeners = createSessionListeners({ channels, log });
  return {
    async push(sessionId, message) {
      try {
        await channels.publish(sessionChannel(sessionId), message);
      } catch (error) {
        log.warn({ error }, 'a notification could not be published');
      }
    },
    async listen(sessionId, onMessage) {
      const subscription = await channels.subscribe(sessionChannel(sessionId), onMessage);
      listeners.announce(sessionId);
      return subscription;
    },
    ownerOf: (sessionId) => entries.get(sessionOwnerKey(sessionId)),
    own: (sessionId, userId) =>
      entries.put(sessionOwnerKey(sessionId), userId, { expiresAfterMs: OWNED_MS }),
    awaitListener: (sessionId, timeoutMs) => listeners.wait(sessionId, timeoutMs),
    start: () => listeners.start(),
    stop: () => listeners.stop(),
  };
}
