import { describeError, type Locks, type Log, type Part } from '@model-gateway/kernel';

interface WebhookWatchDependencies {
  readonly watch: () => Promise<void>;
  readonly locks: Locks;
  readonly log: Log;
  readonly intervalMs?: number;
}

const LOCK = 'webhook-watch';
const INTERVAL_MS = 5_000;
const LOCK_MS = 30_000;

/** Watches in one process at a time. It keeps its lock, so that the views of two processes do not alternate. */
export function createWebhookWatch(dependencies: WebhookWatchDependencies): Part {
  const { watch, locks, log, intervalMs = INTERVAL_MS } = dependencies;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let lock: Awaited<ReturnType<Locks['acquire']>>;

  async function holdsLock(): Promise<boolean> {
    if (lock !== undefined && (await lock.extend(LOCK_MS))) return true;
    lock = await locks.acquire(LOCK, LOCK_MS);
    return lock !== undefined;
  }

  function tick(): void {
    running = holdsLock()
      .then((isHolder) => (isHolder && !isStopped ? watch() : undefined))
      .catch((error: unknown) => {
        log.warn(
          { reason: describeError(error) },
          'watching for events failed; trying again later',
        );
      })
      .finally(() => {
        if (!isStopped) timer = setTimeout(tick, intervalMs).unref();
      });
  }

  return {
    name: 'webhook-watch',
    async start() {
      tick();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
      await lock?.release().catch(() => undefined);
    },
  };
}
