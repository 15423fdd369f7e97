import {
  createAccountChanges,
  createKeyCache,
  createKeyGrants,
  type KeyCache,
} from '@model-gateway/accounts';
import type { AppContext } from '@model-gateway/server-process';
import type { Subscription } from '@model-gateway/kernel';

/** API keys, cached until an account change invalidates them. */
export interface CachedKeys extends Pick<KeyCache, 'find' | 'recall'> {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createCachedKeys(context: AppContext): CachedKeys {
  const { database, bus, clock, log } = context;
  const changes = createAccountChanges({ channels: bus.channels, counters: bus.counters, log });
  const grants = createKeyGrants(database);
  const cache = createKeyCache({
    lookUp: (secret) => grants.lookUp(secret),
    readEpoch: () => changes.readEpoch(),
    clock,
  });
  let subscription: Subscription | undefined;
  return {
    find: (secret) => cache.find(secret),
    recall: (secret) => cache.recall(secret),
    async start() {
      subscription = await changes.subscribe((change) => cache.applyChange(change));
    },
    async stop() {
      await subscription?.close();
    },
  };
}
