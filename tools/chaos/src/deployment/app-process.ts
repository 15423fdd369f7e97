import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess, type TestProcess } from '@model-gateway/testkit';

/** One place of the deployment: a process that is started again after each end. */
export interface AppProcess {
  readonly name: string;
  /** Where it serves; a stopping process does so until its end. */
  readonly url: string | undefined;
  readonly pid: number | undefined;
  start(): Promise<void>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
  /** Ends it with SIGTERM, and fails unless it ends by itself with status 0. */
  stop(): Promise<void>;
  pause(): void;
  resume(): void;
  /** How often it ended although nothing ended it. */
  readonly unexpectedEnds: number;
  /** What the running process wrote. */
  output(): string;
}

type ProcessOptions = Parameters<typeof startProcess>[0];

const STARTS_MAX = 10;
const START_AGAIN_MS = 500;

/** A process refuses to start without its stores; the supervisor of a deployment starts it again. */
async function startSupervised(options: () => ProcessOptions): Promise<TestProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startProcess(options());
    } catch (error) {
      if (attempt === STARTS_MAX) throw error;
      await sleep(START_AGAIN_MS);
    }
  }
}

export function createAppProcess(name: string, options: () => ProcessOptions): AppProcess {
  let running: TestProcess | undefined;
  let stopping: TestProcess | undefined;
  let unexpectedEnds = 0;
  let lastOutput = '';

  function take(): TestProcess | undefined {
    const taken = running;
    running = undefined;
    if (taken !== undefined) lastOutput = taken.output();
    return taken;
  }
  return {
    name,
    get url() {
      return (running ?? stopping)?.url;
    },
    get pid() {
      return running?.pid;
    },
    get unexpectedEnds() {
      return unexpectedEnds;
    },
    output: () => running?.output() ?? lastOutput,
    async start() {
      const started = await startSupervised(options);
      running = started;
      void started.exited.then(() => {
        if (running !== started) return;
        unexpectedEnds += 1;
        take();
      });
    },
    async kill() {
      await take()?.kill();
    },
    async stop() {
      stopping = take();
      const status = (await stopping?.stop().finally(() => (stopping = undefined))) ?? 0;
      if (status !== 0) throw new Error(`${name} ended with status ${status}`);
    },
    pause: () => running?.signal('SIGSTOP'),
    resume: () => running?.signal('SIGCONT'),
  };
}
