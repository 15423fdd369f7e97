import type { SpendSumsStore } from '@model-gateway/billing';
import { describeError, type Clock, type Log, type Part } from '@model-gateway/kernel';

interface CatchUpDependencies {
  readonly spendSums: Pick<SpendSumsStore, 'catchUp' | 'forgetHours'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly retryAfterMs?: number;
  readonly intervalMs?: number;
}

const RETRY_AFTER_MS = 60_000;
const INTERVAL_MS = 10 * 60_000;

/**
 * After an upgrade, counts the usage rows from before for the kept sums; and deletes sums that are kept for a while only. Several
 * processes may do this at once.
 */
export function createSumsCatchUp({
  spendSums,
  clock,
  log,
  retryAfterMs = RETRY_AFTER_MS,
  intervalMs = INTERVAL_MS,
}: CatchUpDependencies): Part {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  /** Returns after how many milliseconds to do it again. */
  async function catchUp(): Promise<number> {
    try {
      const days = await spendSums.catchUp(stopping.signal);
      if (days > 0) log.info({ days }, 'earlier usage was counted for the summaries');
      await spendSums.forgetHours(new Date(clock.now()));
      return intervalMs;
    } catch (error) {
      log.warn(
        { reason: describeError(error) },
        'counting earlier usage failed; trying again later',
      );
      return retryAfterMs;
    }
  }

  async function run(): Promise<void> {
    const pauseMs = await catchUp();
    if (!stopping.signal.aborted) timer = setTimeout(begin, pauseMs).unref();
  }

  function begin(): void {
    running = run();
  }

  return {
    name: 'sums-catch-up',
    async start() {
      begin();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
