import { monthStart, type AdmissionStore, type BillingFacts } from '@model-gateway/billing';
import { describeError, type Clock, type Locks, type Log, type Part } from '@model-gateway/kernel';

interface FactRefreshDependencies {
  readonly facts: Pick<BillingFacts, 'changedSince'>;
  readonly admission: Pick<AdmissionStore, 'learn'>;
  readonly locks: Locks;
  /** Calls back when what was learned may be gone, or be older than it was; the answer stops that. */
  readonly onStoreChange: (listener: () => void) => () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly intervalMs?: number;
}

const LOCK = 'fact-refresh';
const INTERVAL_MS = 10_000;
// The lock is kept until it expires, so that one process does this in an interval, and another if that one is gone.
const LOCK_SHARE = 0.8;
// A change bears the time when it was made, and is seen when it is committed; clocks differ besides.
const OVERLAP_MS = 60_000;
// Nothing that is older is still believed by the admission store.
const BELIEVED_MS = 3 * 24 * 60 * 60 * 1000;

/**
 * Tells the admission store what changed in the database. Whoever changes something tells it at once: this is for what
 * got lost on the way, because a process died in between or Redis came back with less than it had.
 */
export function createFactRefresh(dependencies: FactRefreshDependencies): Part {
  const { facts, admission, locks, onStoreChange, clock, log } = dependencies;
  const { intervalMs = INTERVAL_MS } = dependencies;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopListening = (): void => undefined;
  /** Undefined as long as everything has to be told. */
  let toldUntil: number | undefined;

  async function refresh(): Promise<void> {
    const lock = await locks.acquire(LOCK, Math.ceil(intervalMs * LOCK_SHARE));
    if (lock === undefined) return;
    const before = toldUntil;
    const startedAt = clock.now();
    const since = before === undefined ? earliest(startedAt) : before - OVERLAP_MS;
    toldUntil = startedAt;
    try {
      for await (const page of facts.changedSince(new Date(since))) {
        if (stopping.signal.aborted) return;
        await admission.learn(page);
      }
    } catch (error) {
      // Unless the store changed meanwhile, in which case everything has to be told.
      if (toldUntil !== undefined) toldUntil = before;
      throw error;
    }
  }

  function tick(): void {
    running = refresh()
      .catch((error: unknown) => {
        log.warn({ reason: describeError(error) }, 'quotas and balances are told anew later');
      })
      .finally(() => {
        if (!stopping.signal.aborted) timer = setTimeout(tick, intervalMs).unref();
      });
  }

  return {
    name: 'fact-refresh',
    async start() {
      stopListening = onStoreChange(() => {
        toldUntil = undefined;
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
  return Math.min(monthStart(new Date(now)).getTime(), now - BELIEVED_MS);
}
