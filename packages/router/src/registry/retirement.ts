import { describeError, type Log } from '@model-gateway/kernel';
import type { Slot } from './backend-list.ts';

/** Closes replaced or removed backends when their last request has ended. */
export interface Retirement {
  retire(slot: Slot | undefined): void;
  /** Closes these, and those that are still in use, now. */
  closeAll(slots: readonly Slot[]): Promise<void>;
}

// As long as a response may take; longer requests are not waited for.
const IN_USE_MAX_MS = 15 * 60 * 1000;

export function createRetirement(log: Log): Retirement {
  const retiring = new Set<Slot>();

  async function close(slot: Slot): Promise<void> {
    const { backend } = slot;
    await backend.close().catch((error: unknown) => {
      log.warn({ backend: backend.name, reason: describeError(error) }, 'closing a backend failed');
    });
  }

  async function closeUnused(slot: Slot): Promise<void> {
    retiring.add(slot);
    const closeOnce = async (): Promise<void> => {
      clearTimeout(timer);
      if (retiring.delete(slot)) await close(slot);
    };
    const timer = setTimeout(() => void closeOnce(), IN_USE_MAX_MS).unref();
    await slot.unused().then(closeOnce);
  }

  return {
    retire(slot) {
      if (slot !== undefined) void closeUnused(slot);
    },
    async closeAll(slots) {
      const all = [...slots, ...retiring];
      retiring.clear();
      await Promise.all(all.map(close));
    },
  };
}
