import { sessionOwnerKey } from '@model-gateway/contracts';
import { describeError, type Entries, type Log } from '@model-gateway/kernel';

/** Publishes which session the notifications of a stream are of, and who owns it, to all replicas while it is open. */
export interface SessionOwners {
  add(streamId: string, session: OwnedSession): Promise<void>;
  remove(streamId: string): Promise<void>;
  /** The session of a stream, also for some time after its process was killed. Never rejects. */
  sessionOf(streamId: string): Promise<string | undefined>;
  close(): void;
}

interface OwnedSession {
  readonly sessionId: string;
  readonly userId: string;
}

interface SessionOwnersDependencies {
  readonly entries: Pick<Entries, 'put' | 'get' | 'remove'>;
  readonly log: Log;
}

/** The entries of a killed process expire after this time; its listeners learn it within 45 seconds. */
const EXPIRES_AFTER_MS = 90_000;
const REFRESH_MS = 20_000;

const sessionKey = (streamId: string): string => `realtime-session:${streamId}`;

export function createSessionOwners({ entries, log }: SessionOwnersDependencies): SessionOwners {
  const owned = new Map<string, OwnedSession>();

  async function put(streamId: string, { sessionId, userId }: OwnedSession): Promise<void> {
    try {
      const expiry = { expiresAfterMs: EXPIRES_AFTER_MS };
      await entries.put(sessionOwnerKey(streamId), userId, expiry);
      await entries.put(sessionKey(streamId), sessionId, expiry);
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'storing the owner of a session failed');
    }
  }
  const refresh = setInterval(() => {
    for (const [streamId, session] of owned) void put(streamId, session);
  }, REFRESH_MS);
  refresh.unref();

  return {
    async add(streamId, session) {
      owned.set(streamId, session);
      await put(streamId, session);
    },
    async remove(streamId) {
      owned.delete(streamId);
      try {
        await entries.remove(sessionKey(streamId));
        await entries.remove(sessionOwnerKey(streamId));
      } catch (error) {
        log.warn(
          { reason: describeError(error) },
          'removing the owner of a session failed; the entry expires',
        );
      }
    },
    sessionOf: (streamId) => entries.get(sessionKey(streamId)).catch(() => undefined),
    close: () => clearInterval(refresh),
  };
}
