import type { AdmissionStore } from '@model-gateway/billing';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { FallBack } from './fall-back.ts';

interface FailoverAdmissionOptions {
  readonly connection: Pick<RedisConnection, 'commandsReady' | 'onChange'>;
  readonly redis: AdmissionStore;
  readonly local: AdmissionStore;
  readonly fallBack: FallBack;
}

/**
 * While Redis is unavailable, this process counts limits and calls locally, from zero, and knows only the facts that it
 * reads meanwhile. Neither is copied to Redis: a minute later the limits are exact again, and facts come from the database.
 * Calls in flight are announced to whichever store takes over.
 */
export function createFailoverAdmission(options: FailoverAdmissionOptions): AdmissionStore {
  const { connection, redis, local, fallBack } = options;
  return {
    admit: (request) =>
      fallBack(
        () => redis.admit(request),
        () => local.admit(request),
      ),
    updateHints: (facts) =>
      fallBack(
        () => redis.updateHints(facts),
        () => local.updateHints(facts),
      ),
    // A call that was extended during an outage is in both.
    endCall(end) {
      local.endCall(end);
      redis.endCall(end);
    },
    onReplaced(listener) {
      let wasReady = connection.commandsReady();
      connection.onChange(() => {
        const isReady = connection.commandsReady();
        if (isReady === wasReady) return;
        wasReady = isReady;
        listener();
      });
    },
  };
}
