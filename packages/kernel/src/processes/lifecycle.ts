import type { Log } from '../log/log.ts';
import { withTimeout } from '../async/with-timeout.ts';

/** A component that a process starts and stops. */
export interface Part {
  readonly name: string;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens the parts of a process one after another and closes them in reverse. */
export interface Lifecycle {
  /** Opens a part and registers how to close it. Rejects with `StoppedError` once stopping has begun. */
  open<Opened>(
    name: string,
    start: () => Opened | Promise<Opened>,
    stop: (opened: Opened) => Promise<void>,
  ): Promise<Opened>;
  start(part: Part): Promise<void>;
  /** Idempotent: every caller waits for the one stop. */
  stop(): Promise<void>;
  /** Calls the listener for each SIGHUP, which then no longer stops the process. Returns how to end that. */
  onHangUp(listener: () => void): () => void;
  /** Calls the listeners; false when there are none. */
  hangUp(): boolean;
  /** Aborts when stopping begins: readiness turns to draining and long-lived responses end. */
  readonly stopping: AbortSignal;
}

/** Thrown by a start when a stop began before it finished. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError';
}

interface LifecycleOptions {
  readonly log: Log;
  /** How long the parts together may take to stop. A part that takes longer is given up, and the next one is stopped. */
  readonly stopTimeoutMs?: number;
  /** The least time that a part gets, also when the parts before it took all of it. */
  readonly partTimeoutMsMin?: number;
}

// Together below the minute that deployments give a process before they kill it.
const STOP_TIMEOUT_MS = 45_000;
const PART_TIMEOUT_MS_MIN = 2_000;
// A stop does not wait longer for a part that is still being opened.
const OPENING_TIMEOUT_MS = 10_000;
const ignore = (): void => undefined;

interface OpenPart {
  readonly name: string;
  readonly stop: () => Promise<void>;
}

export function createLifecycle({
  log,
  stopTimeoutMs = STOP_TIMEOUT_MS,
  partTimeoutMsMin = PART_TIMEOUT_MS_MIN,
}: LifecycleOptions): Lifecycle {
  const open: OpenPart[] = [];
  const controller = new AbortController();
  const hangUpListeners = new Set<() => void>();
  let opening: Promise<unknown> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    const endsAt = performance.now() + stopTimeoutMs;
    controller.abort();
    // A part that is being opened is closed too; its caller reports a failure to open.
    await withTimeout(opening, OPENING_TIMEOUT_MS).catch(ignore);
    for (let part = open.pop(); part !== undefined; part = open.pop()) {
      const leftMs = Math.round(endsAt - performance.now());
      try {
        await withTimeout(part.stop(), Math.max(leftMs, partTimeoutMsMin));
      } catch (error) {
        log.error({ part: part.name, error }, 'a part did not stop cleanly');
      }
    }
  }

  async function openPart<Opened>(
    name: string,
    start: () => Opened | Promise<Opened>,
    stop: (opened: Opened) => Promise<void>,
  ): Promise<Opened> {
    if (controller.signal.aborted) throw new StoppedError(`stopped before ${name} was opened`);
    const opened = await start();
    open.push({ name, stop: () => stop(opened) });
    return opened;
  }

  return {
    stopping: controller.signal,
    open(name, start, stop) {
      const result = openPart(name, start, stop);
      opening = result;
      return result;
    },
    async start(part) {
      await this.open(
        part.name,
        () => part.start(),
        () => part.stop(),
      );
    },
    onHangUp(listener) {
      hangUpListeners.add(listener);
      return () => void hangUpListeners.delete(listener);
    },
    hangUp() {
      for (const listener of hangUpListeners) listener();
      return hangUpListeners.size > 0;
    },
    stop() {
      stopped ??= stopAll();
      return stopped;
    },
  };
}
