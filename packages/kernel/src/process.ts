import { describeError, StartupError } from './errors.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import type { Log } from './log.ts';

// npm passes on a signal that the terminal already sent to the whole group, so every Ctrl-C arrives twice.
const SECOND_SIGNAL_AFTER_MS = 2_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface RunOptions {
  readonly name: string;
  /** Reads the configuration and opens the log; a StartupError thrown here is the one sentence that is printed. */
  readonly prepare: () => { readonly log: Log; readonly build: (lifecycle: Lifecycle) => void | Promise<void> };
}

/**
 * Runs one server process to its end: build, start, wait for a signal, drain, exit. Draining starts once; only a signal
 * at least two seconds after the first means "now".
 */
export async function runProcess({ name, prepare }: RunOptions): Promise<void> {
  const stopRequested = deferred();
  let firstSignalAt: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const now = performance.now();
      if (firstSignalAt === undefined) {
        firstSignalAt = now;
        stopRequested.resolve(signal);
      } else if (now - firstSignalAt >= SECOND_SIGNAL_AFTER_MS) {
        process.exit(1);
      }
    });
  }
  try {
    const { log, build } = prepare();
    await serveUntil(stopRequested.promise, log, build);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${name}: ${explain(error)}\n`);
    process.exit(1);
  }
}

async function serveUntil(
  stopRequested: Promise<string>,
  log: Log,
  build: (lifecycle: Lifecycle) => void | Promise<void>,
): Promise<void> {
  const lifecycle = createLifecycle({ log });
  process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ error }, 'uncaught exception');
    void lifecycle.stop().finally(() => process.exit(1));
  });
  const stopped = stopRequested.then(async (signal) => {
    log.info({ signal }, 'draining');
    await lifecycle.stop();
  });
  await build(lifecycle);
  await lifecycle.start();
  await stopped;
}

function explain(error: unknown): string {
  if (error instanceof StartupError) return error.message;
  const detail = error instanceof Error ? (error.stack ?? describeError(error)) : describeError(error);
  return `could not start: ${detail}`;
}

function deferred(): { readonly promise: Promise<string>; readonly resolve: (signal: string) => void } {
  let resolve: (signal: string) => void = () => undefined;
  const promise = new Promise<string>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
