import type { SpendSumsStore } from '@model-gateway/billing';
import { describeError, type Clock, type Log, type Part } from '@model-gateway/kernel';

interface CatchUpDependencies {
  readonly spendSums: Pick<SpendSumsStore, 'catchUp' | 'sumRests'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly retryAfterMs?: number;
  readonly intervalMs?: number;
}

const RETRY_AFTER_MS = 60_000;
const INTERVAL_MS = 10 * 60_000;

/**
 * Makes the kept sums that recording does not make: after an upgrade, those of the usage rows from before; and the rests of a
 * past day, when it is over or late rows were counted in it. Several processes may do this at once.
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
      await spendSums.sumRests(new Date(clock.now()), stopping.signal);
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
