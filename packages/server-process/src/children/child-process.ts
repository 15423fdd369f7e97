import {
  createLifecycle,
  createLog,
  type Lifecycle,
  type Log,
  type LogLevel,
  type Metrics,
  type MetricsSnapshot,
} from '@model-gateway/kernel';
import { createProcessLink, type Calls, type ProcessLink } from './process-link.ts';

/** What a child process is told when it begins, beside its name. */
export interface ChildBegin {
  readonly logLevel: LogLevel;
  /** Whether a signal stops it by itself. Otherwise its parent does, when the other processes need it no more. */
  readonly stopsOnSignals: boolean;
}

/** The name is in each line of its log. */
export type NamedBegin = ChildBegin & { readonly name: string };

/** What every child process is asked by its parent. */
export interface ChildCalls extends Calls {
  /** Opens the parts of the process; answered once it is ready. */
  readonly begin: (begin: NamedBegin) => Promise<void>;
  /** Drains and stops them. */
  readonly stop: (value: null) => Promise<void>;
  readonly metrics: (value: null) => Promise<MetricsSnapshot | null>;
}

interface OpenedIn<Asked extends Calls> {
  readonly parent: ProcessLink<Asked>;
  readonly lifecycle: Lifecycle;
  readonly log: Log;
}

interface ChildOptions<Begin extends ChildBegin, Asked extends Calls> {
  readonly app: string;
  /** Opens the parts; resolves to their metrics. */
  readonly open: (begin: Begin, process: OpenedIn<Asked>) => Promise<Metrics>;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs a process that another one of the service has started, until that one stops it or ends. */
export function runChildProcess<Begin extends ChildBegin, Asked extends Calls>({
  app,
  open,
}: ChildOptions<Begin, Asked>): void {
  let stop: (() => Promise<void>) | undefined;
  let metrics: Metrics | undefined;
  for (const signal of SIGNALS) process.on(signal, () => undefined);

  async function begin(told: Begin & NamedBegin): Promise<void> {
    const log = createLog({ level: told.logLevel, app }).child({ process: told.name });
    const lifecycle = createLifecycle({ log });
    stop = () => lifecycle.stop();
    const end = (status: number): void => {
      void lifecycle.stop().finally(() => process.exit(status));
    };
    if (told.stopsOnSignals)
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end(0));
    process.on('unhandledRejection', (error) => log.error({ error }, 'unhandled rejection'));
    process.on('uncaughtException', (error) => {
      log.fatal({ error }, 'uncaught exception');
      end(1);
    });
    metrics = await open(told, { parent, lifecycle, log });
  }

  const served: ChildCalls = {
    // The parent is of the same build and tells what this takes.
    begin: (told) => begin(told as Begin & NamedBegin),
    async stop() {
      await stop?.();
      // After the answer.
      setImmediate(() => process.exit(0));
    },
    metrics: async () => (await metrics?.snapshot()) ?? null,
  };
  const parent = createProcessLink<Asked>(process, served);
}
