import { describeError } from './errors.ts';
import type { Log } from './log.ts';

/** Something that a process opens and closes again. */
export interface Part {
  readonly name: string;
  start?(): Promise<void>;
  stop?(): Promise<void>;
}

const STOP_TIMEOUT_MS = 45_000;

/** Starts parts in the order they were added and stops them in reverse. */
export interface Lifecycle {
  add(part: Part): void;
  start(): Promise<void>;
  /** Idempotent: every caller waits for the one stop. */
  stop(): Promise<void>;
  /** Aborted when stopping begins: readiness turns to draining, long-lived answers end. */
  readonly stopping: AbortSignal;
}

interface LifecycleOptions {
  readonly log: Log;
  readonly stopTimeoutMs?: number;
}

export function createLifecycle({ log, stopTimeoutMs = STOP_TIMEOUT_MS }: LifecycleOptions): Lifecycle {
  const parts: Part[] = [];
  const running: Part[] = [];
  const controller = new AbortController();
  let stopped: Promise<void> | undefined;

  async function stopAll(): Promise<void> {
    controller.abort();
    for (let part = running.pop(); part !== undefined; part = running.pop()) {
      try {
        await within(stopTimeoutMs, part.stop?.() ?? Promise.resolve());
      } catch (error) {
        log.error({ part: part.name, error }, 'a part did not stop cleanly');
      }
    }
  }

  const lifecycle: Lifecycle = {
    add: (part) => {
      parts.push(part);
    },
    stopping: controller.signal,
    async start() {
      for (const part of parts) {
        if (controller.signal.aborted) return;
        try {
          // Counted as running before it has started: a part that fails half-way is also stopped.
          running.push(part);
          await part.start?.();
        } catch (error) {
          await lifecycle.stop();
          throw error;
        }
      }
    },
    stop() {
      stopped ??= stopAll();
      return stopped;
    },
  };
  return lifecycle;
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${milliseconds} ms`)), milliseconds);
  });
  try {
    await Promise.race([work, late]);
  } catch (error) {
    throw error instanceof Error ? error : new Error(describeError(error));
  } finally {
    clearTimeout(timer);
  }
}
