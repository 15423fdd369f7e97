import type { SpendSumsStore } from '@model-gateway/billing';
import { describeError, type Log, type Part } from '@model-gateway/kernel';

interface CatchUpDependencies {
  readonly spendSums: Pick<SpendSumsStore, 'catchUp'>;
  readonly log: Log;
  readonly retryAfterMs?: number;
}

const RETRY_AFTER_MS = 60_000;

/** After an upgrade, counts the usage rows that were there before there were kept sums. Several processes may do it at once. */
export function createSumsCatchUp({
  spendSums,
  log,
  retryAfterMs = RETRY_AFTER_MS,
}: CatchUpDependencies): Part {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  async function catchUp(): Promise<void> {
    try {
      const days = await spendSums.catchUp(stopping.signal);
      if (days > 0) log.info({ days }, 'earlier usage was counted for the summaries');
    } catch (error) {
      log.warn(
        { reason: describeError(error) },
        'counting earlier usage failed; trying again later',
      );
      if (!stopping.signal.aborted) timer = setTimeout(begin, retryAfterMs).unref();
    }
  }

  function begin(): void {
    running = catchUp();
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
