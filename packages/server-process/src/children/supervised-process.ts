import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  mergeEnded,
  mergeMetrics,
  withTimeout,
  type Log,
  type MetricsSnapshot,
  type Part,
} from '@model-gateway/kernel';
import type { ChildBegin, ChildCalls } from './child-process.ts';
import { createProcessLink, type Calls, type ProcessLink } from './process-link.ts';

interface SupervisedOptions {
  readonly name: string;
  /** The script that the process runs. */
  readonly script: string;
  /** Variables that differ from those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
  /** What it is told when it begins, each time. */
  readonly begin: ChildBegin;
  /** What it can ask. */
  readonly served: Calls;
  readonly log: Log;
}

/** A part of the service in a process of its own, which is started again whenever it ends by itself. */
export interface SupervisedProcess extends Part {
  /** The metrics of the process, with what those before it had counted when they were last read. */
  metrics(): Promise<MetricsSnapshot>;
}

interface Running {
  readonly worker: Worker;
  readonly link: ProcessLink<ChildCalls>;
  readonly exited: Promise<unknown>;
}

const RESTART_DELAY_MS_MIN = 250;
const RESTART_DELAY_MS_MAX = 30_000;
/** A process that ran for this long is started again without a longer pause. */
const STABLE_MS = 60_000;
const METRICS_TIMEOUT_MS = 2_000;

export function createSupervisedProcess(options: SupervisedOptions): SupervisedProcess {
  const { name, script, begin, served, log } = options;
  const stopping = new AbortController();
  let running: Running | undefined;
  let supervision = Promise.resolve();
  let last: readonly MetricsSnapshot[] = [];
  let ended: readonly MetricsSnapshot[] = [];

  async function launch(): Promise<Running> {
    // Each process accepts its connections itself: one that this process had handed to a process that is killed would hang.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({ exec: script, args: [] });
    const worker = cluster.fork(options.environment);
    const link = createProcessLink<ChildCalls>(worker, served);
    const exited = new Promise<void>((resolve) => {
      worker.once('exit', () => {
        link.end(`the process ${name} has ended`);
        resolve();
      });
    });
    worker.on('error', (error) => link.end(error.message));
    const launched = { worker, link, exited };
    await link.call('begin', { ...begin, name }).catch(async (error: unknown) => {
      worker.kill('SIGKILL');
      await exited;
      throw error;
    });
    return launched;
  }

  async function supervise(first: Running): Promise<void> {
    let delayMs = RESTART_DELAY_MS_MIN;
    let current: Running | undefined = first;
    while (current !== undefined) {
      const startedAt = performance.now();
      await current.exited;
      running = undefined;
      if (stopping.signal.aborted) return;
      const { pid, exitCode: status, signalCode: signal } = current.worker.process;
      log.error(
        { process: name, pid, status, signal },
        'a process ended unexpectedly; starting it again',
      );
      ended = [mergeEnded(last.concat(ended))];
      last = [];
      if (performance.now() - startedAt > STABLE_MS) delayMs = RESTART_DELAY_MS_MIN;
      current = await relaunch();
    }

    async function relaunch(): Promise<Running | undefined> {
      for (;;) {
        await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return undefined;
        delayMs = Math.min(delayMs * 2, RESTART_DELAY_MS_MAX);
        try {
          running = await launch();
          log.info(
            { process: name, pid: running.worker.process.pid },
            'the process is ready again',
          );
          if (stopping.signal.aborted) await stopChild(running);
          return running;
        } catch (error) {
          log.error({ process: name, error }, 'starting a process again failed; retrying');
        }
      }
    }
  }

  async function stopChild({ link, exited }: Running): Promise<void> {
    await link.call('stop', null).catch(() => undefined);
    await exited;
  }

  return {
    name,
    async start() {
      running = await launch();
      supervision = supervise(running);
    },
    async stop() {
      stopping.abort();
      if (running !== undefined) await stopChild(running);
      await supervision;
    },
    async metrics() {
      const asked = running?.link.call('metrics', null) ?? Promise.resolve(null);
      const read = await withTimeout(asked, METRICS_TIMEOUT_MS).catch(() => null);
      if (read !== null) last = [read];
      return mergeMetrics([...last, ...ended]);
    },
  };
}
