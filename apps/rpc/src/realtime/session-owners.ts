import { sessionOwnerKey } from '@model-gateway/contracts';
import { describeError, type Entries, type Log } from '@model-gateway/kernel';

/** Publishes the owner of a session's notifications to all replicas while the session is open. */
export interface SessionOwners {
  add(streamId: string, userId: string): Promise<void>;
  remove(streamId: string): Promise<void>;
  close(): void;
}

interface SessionOwnersDependencies {
  readonly entries: Pick<Entries, 'put' | 'remove'>;
  readonly log: Log;
}

/** The entry of a killed process expires after this time. */
const EXPIRES_AFTER_MS = 60_000;
const REFRESH_MS = 20_000;

export function createSessionOwners({ entries, log }: SessionOwnersDependencies): SessionOwners {
  const owners = new Map<string, string>();

  async function put(streamId: string, userId: string): Promise<void> {
    try {
      await entries.put(sessionOwnerKey(streamId), userId, { expiresAfterMs: EXPIRES_AFTER_MS });
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'storing the owner of a session failed');
    }
  }
  const refresh = setInterval(() => {
    for (const [streamId, userId] of owners) void put(streamId, userId);
  }, REFRESH_MS);
  refresh.unref();

  return {
    async add(streamId, userId) {
      owners.set(streamId, userId);
      await put(streamId, userId);
    },
    async remove(streamId) {
      owners.delete(streamId);
      await entries.remove(sessionOwnerKey(streamId)).catch((error: unknown) => {
        log.warn(
          { reason: describeError(error) },
          'removing the owner of a session failed; the entry expires',
        );
      });
    },
    close: () => clearInterval(refresh),
  };
}
