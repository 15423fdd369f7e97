import { describeError, isError, StartupError } from '../errors/errors.ts';
import { createLifecycle, StoppedError, type Lifecycle } from './lifecycle.ts';
import { createLog, type Log, type LogLevel } from '../log/log.ts';

// npm forwards a signal that the terminal already sent to the whole group, so every Ctrl-C arrives twice.
const SECOND_SIGNAL_AFTER_MS = 2_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface RunOptions<Config extends { readonly logLevel: LogLevel }> {
  readonly name: string;
  /** Throws a StartupError that names every problem. */
  readonly readConfig: () => Config;
  /** Opens the parts of the process, in order. */
  readonly open: (config: Config, lifecycle: Lifecycle, log: Log) => Promise<void>;
}

/**
 * Runs one server process: read the configuration, open, wait for a signal, drain, exit. SIGHUP does so only where no part
 * listens for it. Draining starts once; only a
 * signal at least two seconds after the first one exits immediately.
 */
export async function runProcess<Config extends { readonly logLevel: LogLevel }>({
  name,
  readConfig,
  open,
}: RunOptions<Config>): Promise<void> {
  try {
    const config = readConfig();
    const log = createLog({ level: config.logLevel, app: name });
    const lifecycle = createLifecycle({ log });
    const stopped = stopOnSignals(lifecycle, log);
    await open(config, lifecycle, log).catch(async (error: unknown) => {
      await lifecycle.stop();
      if (!(error instanceof StoppedError)) throw error;
    });
    await stopped;
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${name}: ${explain(error)}\n`);
    process.exit(1);
  }
}

function stopOnSignals(lifecycle: Lifecycle, log: Log): Promise<void> {
  process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
  process.on('uncaughtException', (error) => {
    log.fatal({ error }, 'uncaught exception');
    void lifecycle.stop().finally(() => process.exit(1));
  });
  return new Promise((resolve, reject) => {
    let firstSignalAt: number | undefined;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (signal === 'SIGHUP' && firstSignalAt === undefined && lifecycle.hangUp()) return;
        const now = performance.now();
        if (firstSignalAt === undefined) {
          firstSignalAt = now;
          log.info({ signal }, 'draining');
          lifecycle.stop().then(resolve, reject);
        } else if (now - firstSignalAt >= SECOND_SIGNAL_AFTER_MS) {
          process.exit(1);
        }
      });
    }
  });
}

function explain(error: unknown): string {
  if (error instanceof StartupError) return error.message;
  const detail = isError(error) ? (error.stack ?? describeError(error)) : describeError(error);
  return `could not start: ${detail}`;
}
