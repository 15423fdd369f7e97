import {
  describeError,
  randomToken,
  tryParse,
  type Channels,
  type Locks,
  type Log,
  type Subscription,
} from '@model-gateway/kernel';
import { HEALTH_CHANNEL, healthMessageSchema, type HealthMessage } from './health-report.ts';

/** Probes every backend once per interval, in one process for all. */
export interface HealthChecker {
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface HealthCheckerDependencies {
  readonly locks: Locks;
  readonly channels: Channels;
  readonly log: Log;
  readonly intervalMs: number;
  /** Runs in the process that got the lock. */
  readonly checkAll: () => Promise<void>;
  /** Runs in the other processes. */
  readonly onRoundElsewhere: () => Promise<void>;
}

const LOCK = 'health-round';
// The lock is kept until it expires, so that there is one round per interval even if its holder dies.
const LOCK_SHARE = 0.8;
const RETRY_SHARE = 0.1;

/**
 * The start of a round sets the time of the next one in all processes: all try to get its lock, and one succeeds. So when a
 * prober dies, another one probes at the same time.
 */
export function createHealthChecker(dependencies: HealthCheckerDependencies): HealthChecker {
  const { locks, channels, log, intervalMs, checkAll, onRoundElsewhere } = dependencies;
  const from = randomToken();
  let subscription: Subscription | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopped = false;

  function tryIn(milliseconds: number): void {
    clearTimeout(timer);
    if (stopped) return;
    timer = setTimeout(() => void tryNow(), milliseconds).unref();
  }

  function run(work: () => Promise<void>): void {
    running = running.then(work).catch((error: unknown) => {
      log.error({ error }, 'a round of health checks failed');
    });
  }

  async function tryNow(): Promise<void> {
    try {
      const lock = await locks.acquire(LOCK, Math.ceil(intervalMs * LOCK_SHARE));
      if (lock === undefined) return tryIn(intervalMs * RETRY_SHARE);
      tryIn(intervalMs);
      run(checkAll);
      const message: HealthMessage = { kind: 'round', from };
      await channels.publish(HEALTH_CHANNEL, JSON.stringify(message));
    } catch (error) {
      log.warn(
        { reason: describeError(error) },
        'starting a round of health checks failed; trying again later',
      );
      tryIn(intervalMs * RETRY_SHARE);
    }
  }

  function onRound(): void {
    tryIn(intervalMs);
    run(onRoundElsewhere);
  }

  return {
    async start() {
      subscription = await channels.subscribe(HEALTH_CHANNEL, (text) => {
        const message = tryParse(healthMessageSchema, text);
        if (message?.kind === 'round' && message.from !== from) onRound();
      });
      tryIn(intervalMs);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await subscription?.close();
      await running;
    },
  };
}
