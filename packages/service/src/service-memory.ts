import { createMemoryClient } from '@model-gateway/backends';
import type { AppContext } from '@model-gateway/server-process';
import {
  createDisabledMemory,
  createMemory,
  createMemoryEvents,
  type Memory,
} from '@model-gateway/inference';
import type { ServiceRuntimeConfig } from './service-runtime-settings.ts';

/** The long-term memory of this process; without a memory service, one that remembers nothing. */
export function createServiceMemory(
  config: ServiceRuntimeConfig,
  { database, clock, log }: Pick<AppContext, 'database' | 'clock' | 'log'>,
): Memory {
  const events = createMemoryEvents({ store: database.memoryEvents, clock, log });
  const { memoryUrl: url, memoryToken: token, memoryTimeoutMs: timeoutMs } = config;
  if (url === undefined) return createDisabledMemory(events);
  const service = createMemoryClient({ url, token, timeoutMs, clock, log });
  return createMemory({
    service,
    events,
    writeback: config.memoryWriteback,
    isActive: (userId) =>
      database.users.findById(userId).then(
        (user) => user !== undefined,
        // While the database is unavailable, turns are remembered as before.
        () => true,
      ),
  });
}
