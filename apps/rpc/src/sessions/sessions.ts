import { sessionChannel, sessionOwnerKey } from '@model-gateway/contracts';
import type { Channels, Entries, Log, Subscription } from '@model-gateway/kernel';

/** Notification sessions: what is pushed on one replica reaches the listener on whichever replica it is. */
export interface Sessions {
  /** Pushes the text of one message; a failure is logged and never the caller's problem. */
  push(sessionId: string, message: string): Promise<void>;
  /** Resolves when the subscription is live. */
  listen(sessionId: string, onMessage: (message: string) => void): Promise<Subscription>;
  /** The user whom a session belongs to, where it belongs to anybody. */
  ownerOf(sessionId: string): Promise<string | undefined>;
}

interface SessionsDependencies {
  readonly channels: Channels;
  /** Where owners of sessions are written down. */
  readonly entries: Pick<Entries, 'get'>;
  readonly log: Log;
}

export function createSessions({ channels, entries, log }: SessionsDependencies): Sessions {
  return {
    async push(sessionId, message) {
      try {
        await channels.publish(sessionChannel(sessionId), message);
      } catch (error) {
        log.warn({ error }, 'a notification could not be published');
      }
    },
    listen: (sessionId, onMessage) => channels.subscribe(sessionChannel(sessionId), onMessage),
    ownerOf: (sessionId) => entries.get(sessionOwnerKey(sessionId)),
  };
}
