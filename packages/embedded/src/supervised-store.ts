import { setTimeout as sleep } from 'node:timers/promises';
import {
  createDeferred,
  describeError,
  startGuarded,
  SYSTEM_ENVIRONMENT,
  withTimeout,
  type GuardedProcess,
  type Log,
} from '@model-gateway/kernel';
import type { Identity } from './system-command.ts';

const READY = /ready to accept (?:read-only )?connections/i;
// Replaying the log after a crash is the slowest start.
const READY_TIMEOUT_MS = 120_000;
const RESTART_DELAY_MIN_MS = 100;
const RESTART_DELAY_MAX_MS = 5_000;
const GRACE_SECONDS = 10;

/** A store that runs as a child of this process and ends with it. */
export interface EmbeddedStore {
  readonly url: string;
  /** The id of the store's process; another one after a restart. */
  readonly pid: number;
  /** Stops the store cleanly and waits for its end. */
  stop(): Promise<void>;
}

/** How to run a store. */
export interface StoreCommand {
  readonly name: string;
  readonly command: readonly string[];
  readonly stopSignal?: 'INT';
  readonly forceSignal?: 'QUIT';
  readonly identity?: Identity | undefined;
  /** Cleans up after an earlier run; called before every start. */
  readonly clear: () => Promise<void>;
}

interface Running {
  readonly child: GuardedProcess;
  readonly pid: number;
}

/** Starts a store, waits until it is ready, and restarts it whenever it exits unexpectedly. */
export async function superviseStore(
  store: StoreCommand,
  log: Log,
): Promise<Pick<EmbeddedStore, 'pid' | 'stop'>> {
  const stopping = new AbortController();
  let running = await launch(store, log);
  const supervision = supervise();

  async function supervise(): Promise<void> {
    for (;;) {
      await running.child.exited;
      if (stopping.signal.aborted) return;
      log.error(
        { store: store.name, lastLines: running.child.lastLines() },
        'a store exited unexpectedly; restarting it',
      );
      const restarted = await relaunch(store, log, stopping.signal);
      if (restarted === undefined) return;
      running = restarted;
      log.info({ store: store.name, pid: running.pid }, 'the store is ready again');
      if (stopping.signal.aborted) await running.child.stop();
    }
  }

  return {
    get pid() {
      return running.pid;
    },
    async stop() {
      stopping.abort();
      await running.child.stop();
      await supervision;
    },
  };
}

async function relaunch(
  store: StoreCommand,
  log: Log,
  stopping: AbortSignal,
): Promise<Running | undefined> {
  for (
    let delayMs = RESTART_DELAY_MIN_MS;
    ;
    delayMs = Math.min(delayMs * 2, RESTART_DELAY_MAX_MS)
  ) {
    await sleep(delayMs, undefined, { signal: stopping }).catch(() => undefined);
    if (stopping.aborted) return undefined;
    try {
      return await launch(store, log);
    } catch (error) {
      log.error({ store: store.name, error }, 'restarting a store failed; retrying');
    }
  }
}

async function launch(store: StoreCommand, log: Log): Promise<Running> {
  await store.clear();
  const ready = createDeferred<'ready'>();
  const child = startGuarded({
    ...store,
    environment: SYSTEM_ENVIRONMENT,
    graceSeconds: GRACE_SECONDS,
    onLine: (line) => {
      log.debug({ store: store.name, line }, 'store log');
      if (READY.test(line)) ready.resolve('ready');
    },
  });
  const exited = child.exited.then(() => 'ended' as const);
  const begun = Promise.race([ready.promise, exited]);
  const outcome = await withTimeout(begun, READY_TIMEOUT_MS, () => 'late' as const);
  if (outcome === 'ready') return { child, pid: await child.pid };
  await child.stop();
  throw new Error(
    `${store.name} did not start: ${describeError(child.lastLines().join(' | ') || outcome)}`,
  );
}
