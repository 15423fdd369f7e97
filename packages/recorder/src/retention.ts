import type { RequestLogStore, SpendSumsStore } from '@model-gateway/billing';
import { describeError, type Clock, type Locks, type Log, type Part } from '@model-gateway/kernel';

interface RetentionDependencies {
  readonly requestLog: Pick<RequestLogStore, 'removeRows' | 'removeBodies'>;
  /** Stored responses have their own expiry. */
  readonly responses: { removeExpired(before: Date, countMax: number): Promise<number> };
  readonly spendSums: Pick<SpendSumsStore, 'forgetHours'>;
  readonly locks: Locks;
  readonly clock: Clock;
  readonly log: Log;
  readonly rowDays: number;
  readonly bodyDays: number;
  readonly intervalMs?: number;
}

const LOCK = 'retention';
const INTERVAL_MS = 10 * 60 * 1000;
// The lock is kept until it expires, so that one process deletes per interval.
const LOCK_SHARE = 0.8;
/** Small, so that no statement holds locks for long. */
const BATCH_ROWS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Deletes what is too old from the request log, expired responses and sums by the hour that are kept for a while only, a batch at a
 * time. Usage rows stay: they are the bill.
 */
export function createRetention(dependencies: RetentionDependencies): Part {
  const { requestLog, responses, spendSums, locks, clock, log, rowDays, bodyDays } = dependencies;
  const { intervalMs = INTERVAL_MS } = dependencies;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function removeAll(remove: () => Promise<number>): Promise<void> {
    while (!stopping.signal.aborted && (await remove()) > 0);
  }

  async function clean(): Promise<void> {
    const lock = await locks.acquire(LOCK, Math.ceil(intervalMs * LOCK_SHARE));
    if (lock === undefined) return;
    const daysAgo = (days: number): Date => new Date(clock.now() - days * DAY_MS);
    await removeAll(() => responses.removeExpired(daysAgo(0), BATCH_ROWS));
    await removeAll(() => requestLog.removeBodies(daysAgo(bodyDays), BATCH_ROWS));
    await removeAll(() => requestLog.removeRows(daysAgo(rowDays), BATCH_ROWS));
    await spendSums.forgetHours(daysAgo(0));
  }

  function tick(): void {
    running = clean()
      .catch((error: unknown) => {
        log.warn(
          { reason: describeError(error) },
          'deleting old requests and responses failed; trying again later',
        );
      })
      .finally(() => {
        if (!stopping.signal.aborted) timer = setTimeout(tick, intervalMs).unref();
      });
  }

  return {
    name: 'retention',
    async start() {
      tick();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
