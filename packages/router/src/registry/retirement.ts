import { describeError, type Log } from '@model-gateway/kernel';
import type { BackendEntry } from './backend-list.ts';

/** Closes replaced or removed backends when their last request has ended. */
export interface Retirement {
  retire(entry: BackendEntry | undefined): void;
  /** Closes these, and those that are still in use, now. */
  closeAll(entries: readonly BackendEntry[]): Promise<void>;
}

// As long as a response may take; longer requests are not waited for.
const IN_USE_MAX_MS = 15 * 60 * 1000;

export function createRetirement(log: Log): Retirement {
  const retiring = new Set<BackendEntry>();

  async function close(entry: BackendEntry): Promise<void> {
    const { backend } = entry;
    await backend.close().catch((error: unknown) => {
      log.warn({ backend: backend.name, reason: describeError(error) }, 'closing a backend failed');
    });
  }

  async function closeUnused(entry: BackendEntry): Promise<void> {
    retiring.add(entry);
    const closeOnce = async (): Promise<void> => {
      clearTimeout(timer);
      if (retiring.delete(entry)) await close(entry);
    };
    const timer = setTimeout(() => void closeOnce(), IN_USE_MAX_MS).unref();
    await entry.unused().then(closeOnce);
  }

  return {
    retire(entry) {
      if (entry !== undefined) void closeUnused(entry);
    },
    async closeAll(entries) {
      const all = [...entries, ...retiring];
      retiring.clear();
      await Promise.all(all.map(close));
    },
  };
}
