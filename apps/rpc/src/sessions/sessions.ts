import { sessionChannel, sessionOwnerKey, userSessionChannel } from '@model-gateway/contracts';
import type { Channels, Entries, Log, Subscription } from '@model-gateway/kernel';
import { createSessionListeners } from './session-listeners.ts';

/** Notification sessions: a message pushed on one replica reaches the listener on any replica. */
export interface Sessions {
  /**
   * Pushes one message, or several separated by line ends, which are delivered one by one and in order. A failure is
   * logged and not thrown.
   */
  push(sessionId: string, lines: string): Promise<void>;
  /** Pushes to the listeners of the session that are authenticated as the user. */
  pushTo(userId: string, sessionId: string, lines: string): Promise<void>;
  /** Resolves when the subscription is live; waiters for a listener of the session are then notified. */
  listen(
    sessionId: string,
    onMessage: (message: string) => void,
    /** Set for a listener that also gets what is pushed to this user. */
    userId?: string,
  ): Promise<Subscription>;
  /** The owner of a session, if it has one. */
  ownerOf(sessionId: string): Promise<string | undefined>;
  /** Sets the owner: other authenticated users may not listen. */
  setOwner(sessionId: string, userId: string): Promise<void>;
  /** For a session that was never begun. */
  removeOwner(sessionId: string): Promise<void>;
  /** Calls back once, when the session gets a listener on any replica; the returned function cancels it. */
  onListener(sessionId: string, onListener: () => void): () => void;
  /** Resolves to true when the session gets a listener on any replica, to false after the timeout. */
  awaitListener(sessionId: string, timeoutMs: number): Promise<boolean>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface SessionsDependencies {
  readonly channels: Channels;
  /** Stores the owners of sessions. */
  readonly entries: Pick<Entries, 'get' | 'put' | 'remove'>;
  readonly log: Log;
}

/** Longer than any session lasts. */
const OWNER_EXPIRES_AFTER_MS = 24 * 60 * 60 * 1000;
const LINE_END = '\n';

export function createSessions({ channels, entries, log }: SessionsDependencies): Sessions {
  const listeners = createSessionListeners({ channels, log });

  async function publish(channel: string, lines: string): Promise<void> {
    try {
      await channels.publish(channel, lines);
    } catch (error) {
      log.warn({ error }, 'publishing a notification failed');
    }
  }

  return {
    push: (sessionId, lines) => publish(sessionChannel(sessionId), lines),
    pushTo: (userId, sessionId, lines) => publish(userSessionChannel(userId, sessionId), lines),
    async listen(sessionId, onMessage, userId) {
      const onLines = (lines: string): void => {
        if (!lines.includes(LINE_END)) onMessage(lines);
        else for (const message of lines.split(LINE_END)) onMessage(message);
      };
      const own =
        userId === undefined
          ? undefined
          : await channels.subscribe(userSessionChannel(userId, sessionId), onLines);
      const subscription = await channels.subscribe(sessionChannel(sessionId), onLines);
      listeners.announce(sessionId);
      return {
        async close() {
          await Promise.all([subscription.close(), own?.close()]);
        },
      };
    },
    ownerOf: (sessionId) => entries.get(sessionOwnerKey(sessionId)),
    setOwner: (sessionId, userId) =>
      entries.put(sessionOwnerKey(sessionId), userId, { expiresAfterMs: OWNER_EXPIRES_AFTER_MS }),
    removeOwner: (sessionId) => entries.remove(sessionOwnerKey(sessionId)),
    onListener: (sessionId, onListener) => listeners.onListener(sessionId, onListener),
    awaitListener: (sessionId, timeoutMs) => listeners.wait(sessionId, timeoutMs),
    start: () => listeners.start(),
    stop: () => listeners.stop(),
  };
}
