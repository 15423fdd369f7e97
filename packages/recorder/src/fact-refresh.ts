import { monthStart, type AdmissionStore, type BillingFacts } from '@model-gateway/billing';
import { describeError, type Clock, type Locks, type Log, type Part } from '@model-gateway/kernel';

interface FactRefreshDependencies {
  readonly facts: Pick<BillingFacts, 'changedSince'>;
  readonly admission: Pick<AdmissionStore, 'updateHints'>;
  readonly locks: Locks;
  /** Calls back when the store may have lost or reverted hints; the returned function unsubscribes. */
  readonly onStoreChange: (listener: () => void) => () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly intervalMs?: number;
}

const LOCK = 'fact-refresh';
const INTERVAL_MS = 10_000;
// The lock is kept until it expires, so that one process refreshes per interval, and another one if that one stops.
const LOCK_SHARE = 0.8;
// A change has the time when it was made, or of one up to 20 seconds before, but is visible only when it is committed; clocks also
// differ.
const OVERLAP_MS = 80_000;
// The admission store ignores older hints.
const HINT_LIFETIME_MS = 3 * 24 * 60 * 60 * 1000;

/**
 * Publishes changed quotas and balances to the admission store. Every change is also published immediately; this covers
 * messages that were lost because a process crashed or Redis restarted with older data.
 */
export function createFactRefresh(dependencies: FactRefreshDependencies): Part {
  const { facts, admission, locks, onStoreChange, clock, log } = dependencies;
  const { intervalMs = INTERVAL_MS } = dependencies;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopListening = (): void => undefined;
  /** Undefined while everything has to be published. */
  let publishedUntil: number | undefined;

  async function refresh(): Promise<void> {
    const lock = await locks.acquire(LOCK, Math.ceil(intervalMs * LOCK_SHARE));
    if (lock === undefined) return;
    const before = publishedUntil;
    const startedAt = clock.now();
    const since = before === undefined ? earliest(startedAt) : before - OVERLAP_MS;
    publishedUntil = startedAt;
    try {
      for await (const page of facts.changedSince(new Date(since))) {
        if (stopping.signal.aborted) return;
        await admission.updateHints(page);
      }
    } catch (error) {
      // If the store changed meanwhile, everything has to be published.
      if (publishedUntil !== undefined) publishedUntil = before;
      throw error;
    }
  }

  function tick(): void {
    running = refresh()
      .catch((error: unknown) => {
        log.warn(
          { reason: describeError(error) },
          'refreshing balances failed; trying again later',
        );
      })
      .finally(() => {
        if (!stopping.signal.aborted) timer = setTimeout(tick, intervalMs).unref();
      });
  }

  return {
    name: 'fact-refresh',
    async start() {
      stopListening = onStoreChange(() => {
        publishedUntil = undefined;
      });
      tick();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      stopListening();
      await running;
    },
  };
}

function earliest(now: number): number {
  return Math.min(monthStart(new Date(now)).getTime(), now - HINT_LIFETIME_MS);
}
