import { systemClock, type Clock, type Log, type Requests } from '@model-gateway/kernel';
import { createFailoverStores } from './failover/failover-stores.ts';
import { createLocalStores } from './local/local-stores.ts';
import type { RedisAccess } from './redis/redis-access.ts';
import { createRequests } from './requests.ts';
import type { SharedStores } from './stores.ts';

/** The state that the processes of one installation share. */
export interface Bus extends SharedStores {
  readonly requests: Requests;
  /** Whether a Redis is configured, available or not. */
  readonly isShared: boolean;
}

export interface BusOptions {
  /** Without it everything is served inside this process. */
  readonly redisUrl?: string | undefined;
  /** How that Redis is reached besides its URL. */
  readonly redisAccess?: RedisAccess;
  /** Whether no other process uses that Redis: then the usage journal is a file, which takes half of the CPU time. */
  readonly isRedisPrivate?: boolean | undefined;
  readonly dataDir: string;
  /** The prefix of every key and channel on Redis. */
  readonly prefix?: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** After this time without a sign of life from a recorder its entries go to another; 30 seconds by default. */
  readonly journalClaimIdleMs?: number;
  /** After this time a call that was not ended ends by itself; 15 minutes by default. */
  readonly callKeptMs?: number;
}

const PREFIX = 'service:';

/** Creates the bus; nothing is opened before `start`. */
export function createBus(options: BusOptions): Bus {
  const { redisUrl, prefix = PREFIX, clock = systemClock } = options;
  const log = options.log.child({ part: 'bus' });
  const { journalClaimIdleMs, callKeptMs, redisAccess = {}, isRedisPrivate = false } = options;
  const common = { dataDir: options.dataDir, log, clock, callKeptMs };
  const stores =
    redisUrl === undefined
      ? createLocalStores(common)
      : createFailoverStores({
          ...common,
          redisUrl,
          redisAccess,
          isRedisPrivate,
          prefix,
          journalClaimIdleMs,
        });
  const requests = createRequests({ channels: stores.channels, log });
  let closed: Promise<void> | undefined;

  async function closeAll(): Promise<void> {
    await requests.close();
    await stores.close();
  }

  return {
    ...stores,
    requests,
    isShared: redisUrl !== undefined,
    async start() {
      try {
        await stores.start();
      } catch (error) {
        await stores.close();
        throw error;
      }
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}
