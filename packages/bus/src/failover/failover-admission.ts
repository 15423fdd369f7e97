import type { AdmissionStore } from '@model-gateway/billing';
import type { Clock } from '@model-gateway/kernel';
import type { LocalAdmission } from '../local/local-admission.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { FallBack } from './fall-back.ts';

interface FailoverAdmissionOptions {
  readonly connection: Pick<RedisConnection, 'commandsReady' | 'onChange'>;
  readonly redis: AdmissionStore;
  readonly local: LocalAdmission;
  readonly fallBack: FallBack;
  readonly clock: Clock;
}

/** When Redis has been back for this long, the usage of the time without it is settled, and this process need not count it. */
const SETTLED_WITHIN_MS = 60_000;

/**
 * While Redis is unavailable, this process counts limits and calls by itself, from zero, and knows only the facts that it
 * reads meanwhile. Nothing of it is copied to Redis: a minute after Redis is back the limits are exact again, and facts come
 * from the database. When the store changes, who listens announces the calls in flight to the new one.
 */
export function createFailoverAdmission(options: FailoverAdmissionOptions): AdmissionStore {
  const { connection, redis, local, fallBack, clock } = options;
  let readySince = clock.now();
  let wasReady = connection.commandsReady();
  const replaced = new Set<() => void>();

  connection.onChange(() => {
    const isReady = connection.commandsReady();
    if (isReady === wasReady) return;
    wasReady = isReady;
    if (isReady) readySince = clock.now();
    else if (clock.now() - readySince >= SETTLED_WITHIN_MS) local.forgetUnsettled();
    for (const listener of replaced) listener();
  });

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
    onReplaced: (listener) => void replaced.add(listener),
  };
}
