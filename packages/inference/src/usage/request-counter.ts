import { describeError, type Clock, type Counters, type Log } from '@model-gateway/kernel';

/** Counts the inference and video requests that all processes accepted. */
export interface RequestCounter {
  /** Cheap: the count is shared a moment later. */
  accepted(): void;
  /** The total since the shared store was empty, and the last minute. */
  read(): Promise<{ readonly total: number; readonly perMinute: number }>;
  /** Shares the remaining counts. */
  stop(): Promise<void>;
}

interface RequestCounterDependencies {
  readonly counters: Counters;
  readonly clock: Clock;
  readonly log: Log;
}

const SHARE_EVERY_MS = 250;
const SECOND_MS = 1_000;
const WINDOW_SECS = 60;
// Longer than they are read, because the clocks of processes differ.
const SECOND_EXPIRES_MS = 2 * WINDOW_SECS * SECOND_MS;
const TOTAL_KEY = 'requests:total';

export function createRequestCounter({
  counters,
  clock,
  log,
}: RequestCounterDependencies): RequestCounter {
  /** Not shared yet, by the second in which they were accepted. */
  const unshared = new Map<number, number>();
  let timer: NodeJS.Timeout | undefined;
  let sharing: Promise<void> = Promise.resolve();

  const currentSecond = (): number => Math.floor(clock.now() / SECOND_MS);

  async function shareAll(): Promise<void> {
    const taken = [...unshared];
    unshared.clear();
    for (const [second, count] of taken) {
      // The counters work locally while their store is unavailable, so this fails only when the process stops.
      await counters.add(secondKey(second), count, { expiresAfterMs: SECOND_EXPIRES_MS });
      await counters.add(TOTAL_KEY, count);
    }
  }

  function share(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    sharing = sharing.then(shareAll).catch((error: unknown) => {
      log.warn({ reason: describeError(error) }, 'counting accepted requests failed');
    });
    return sharing;
  }

  return {
    accepted() {
      const second = currentSecond();
      unshared.set(second, (unshared.get(second) ?? 0) + 1);
      timer ??= setTimeout(() => void share(), SHARE_EVERY_MS).unref();
    },
    async read() {
      await share();
      const now = currentSecond();
      const seconds = Array.from({ length: WINDOW_SECS }, (_, age) => secondKey(now - age));
      const [total = 0, ...counts] = await counters.read([TOTAL_KEY, ...seconds]);
      return { total, perMinute: counts.reduce((sum, count) => sum + count, 0) };
    },
    stop: () => share(),
  };
}

const secondKey = (second: number): string => `requests:second:${second}`;
