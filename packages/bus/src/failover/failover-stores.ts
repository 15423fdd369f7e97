import { ACCOUNT_EPOCH_KEY } from '@model-gateway/accounts';
import type { Clock, Counters, Log } from '@model-gateway/kernel';
import { createLocalCircuits, createLocalLimits } from '@model-gateway/router';
import { createFileJournal } from '../local/file-journal.ts';
import { createLocalAdmission } from '../local/local-admission.ts';
import { createLocalByteCache } from '../local/local-byte-cache.ts';
import { createLocalChannels } from '../local/local-channels.ts';
import { createLocalCounters } from '../local/local-counters.ts';
import { createLocalEntries } from '../local/local-entries.ts';
import { createLocalLocks } from '../local/local-locks.ts';
import { keyPrefix, type RedisAccess } from '../redis/redis-access.ts';
import { createRedisAdmission } from '../redis/redis-admission.ts';
import { createRedisByteCache } from '../redis/redis-byte-cache.ts';
import { createRedisChannels } from '../redis/redis-channels.ts';
import { createRedisCircuits } from '../redis/redis-circuits.ts';
import { createRedisConnection } from '../redis/redis-connection.ts';
import { createRedisCounters } from '../redis/redis-counters.ts';
import { createRedisEntries } from '../redis/redis-entries.ts';
import { createRedisJournal } from '../redis/redis-journal.ts';
import { createRedisLimits } from '../redis/redis-limits.ts';
import { createRedisLocks } from '../redis/redis-locks.ts';
import type { BusMode, SharedStores } from '../stores.ts';
import { createFailoverAdmission } from './failover-admission.ts';
import { createFailoverChannels } from './failover-channels.ts';
import { createFailoverJournal } from './failover-journal.ts';
import { createFailoverLocks } from './failover-locks.ts';
import { createFallBack } from './fall-back.ts';
import { createWithFallback } from './with-fallback.ts';

interface FailoverStoresOptions {
  readonly redisUrl: string;
  readonly redisAccess: RedisAccess;
  /** Whether no other process uses this Redis. */
  readonly isRedisPrivate: boolean;
  readonly prefix: string;
  readonly dataDir: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly journalClaimIdleMs: number | undefined;
  readonly callKeptMs: number | undefined;
}

// Other processes settle too, without notification while Redis is unavailable.
const FACT_KEPT_MS = 5_000;

/** Everything on Redis while it is ready, and inside this process while it is unavailable. */
export function createFailoverStores(options: FailoverStoresOptions): SharedStores {
  const { redisUrl, redisAccess, dataDir, log, clock, journalClaimIdleMs } = options;
  const { callKeptMs } = options;
  const prefix = keyPrefix(options.prefix, redisAccess);
  const target = { ...redisAccess, url: redisUrl, prefix };
  const connection = createRedisConnection({ target, log });
  const fallBack = createFallBack(connection, log);
  const withFallback = createWithFallback({ connection, fallBack, log });
  const file = createFileJournal({ dataDir, log });
  const redisJournal = createRedisJournal({
    connection,
    prefix,
    log,
    ...(journalClaimIdleMs === undefined ? {} : { claimIdleMs: journalClaimIdleMs }),
  });
  // With a Redis that no other process uses, the file alone is as safe, and takes half of the CPU time.
  const journal = options.isRedisPrivate
    ? undefined
    : createFailoverJournal({ connection, redis: redisJournal, file, fallBack, clock, log });
  const redisAdmission = createRedisAdmission({
    connection,
    prefix,
    epochCounter: ACCOUNT_EPOCH_KEY,
    callKeptMs,
  });
  const counters: Counters = withFallback(
    createRedisCounters({ connection, prefix }),
    () => createLocalCounters({ clock }),
    // So that every process looks up the keys again that were revoked meanwhile.
    async (local) => {
      const [changes = 0] = await local.read([ACCOUNT_EPOCH_KEY]);
      if (changes > 0) await counters.add(ACCOUNT_EPOCH_KEY, changes);
    },
  );
  const mode = (): BusMode => (connection.channelsReady() ? 'redis' : 'local');

  return {
    channels: createFailoverChannels({
      connection,
      log,
      local: createLocalChannels({ log }),
      redis: createRedisChannels({ connection, prefix, log }),
    }),
    locks: createFailoverLocks({
      connection,
      fallBack,
      local: createLocalLocks({ clock }),
      redis: createRedisLocks({ connection, prefix }),
    }),
    counters,
    entries: withFallback(createRedisEntries({ connection, prefix }), () =>
      createLocalEntries({ clock }),
    ),
    byteCache: withFallback(createRedisByteCache({ connection, prefix }), () =>
      createLocalByteCache({ clock }),
    ),
    circuits: withFallback(createRedisCircuits({ connection, prefix }), () =>
      createLocalCircuits({ clock }),
    ),
    backendLimits: withFallback(createRedisLimits({ connection, prefix }), () =>
      createLocalLimits({ clock }),
    ),
    admission: createFailoverAdmission({
      connection,
      clock,
      fallBack,
      local: createLocalAdmission({
        clock,
        counters,
        epochCounter: ACCOUNT_EPOCH_KEY,
        factKeptMs: FACT_KEPT_MS,
        callKeptMs,
      }),
      redis: redisAdmission,
    }),
    journal: journal ?? file,
    async start() {
      await file.start();
      await connection.start();
      journal?.start();
    },
    async close() {
      await journal?.close();
      await file.close();
      await redisAdmission.flush();
      await connection.close();
    },
    async ping() {
      await connection.run((client) => client.ping());
    },
    mode,
    onModeChange(listener) {
      let known = mode();
      return connection.onChange(() => {
        if (known === mode()) return;
        known = mode();
        listener(known);
      });
    },
  };
}
