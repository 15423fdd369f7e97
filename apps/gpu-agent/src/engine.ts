import { setTimeout as sleep } from 'node:timers/promises';
import {
  freePort,
  startGuarded,
  withTimeout,
  type GuardedProcess,
  type Log,
} from '@model-gateway/kernel';
import { fill, type EngineSpec, type Filling } from './engine-spec.ts';
import { readProgress, type ReadProgress } from './progress-reader.ts';

/** One model that is being run, from its start until it is stopped. */
export interface Engine {
  readonly status: EngineStatus;
  /** Known once it has been started. */
  readonly port: number | undefined;
  /** Resolves with the port when the model answers; rejects with words for whoever asked for it. */
  readonly ready: Promise<number>;
  stop(): Promise<void>;
}

export type EngineStatus = 'pulling' | 'loading' | 'ready' | 'failed';

interface EngineOptions {
  readonly modelId: string;
  readonly spec: EngineSpec;
  /** Where it listens. */
  readonly host: string;
  readonly env: Readonly<Record<string, string>>;
  readonly onProgress: (progress: ReadProgress) => void;
  /** Told whenever the status has changed. */
  readonly onChange: () => void;
  readonly log: Log;
}

const POLL_MS = 200;
const POLL_TIMEOUT_MS = 2_000;
const DETAIL_CHARS_MAX = 400;

export function startEngine(options: EngineOptions): Engine {
  const { modelId, spec, host, env, onProgress, onChange, log } = options;
  const running: GuardedProcess[] = [];
  let status: EngineStatus = 'loading';
  let port: number | undefined;
  let isStopped = false;

  function become(next: EngineStatus): void {
    if (status === next) return;
    status = next;
    onChange();
  }

  function onLine(line: string): void {
    // What it writes once it serves may have prompts in it.
    if (status !== 'pulling' && status !== 'loading') return;
    log.debug({ modelId, line }, 'an engine says');
    const progress = readProgress(line, status);
    if (progress !== undefined) onProgress(progress);
  }

  function start(template: readonly string[], filling: Filling): GuardedProcess {
    if (isStopped) throw new Error('the model was stopped');
    const started = startGuarded({
      command: template.map((part) => fill(part, filling)),
      environment: { ...env, ...filled(spec.env, filling) },
      cwd: process.cwd(),
      graceSeconds: spec.stopGraceSecs,
      wholeGroup: true,
      onLine,
    });
    running.push(started);
    return started;
  }

  /** Runs the command that fetches the model to its end, unless the server ends before. */
  async function pull(template: readonly string[], filling: Filling): Promise<void> {
    become('pulling');
    const pulling = start(template, filling);
    const ended = await pulling.exited;
    if (ended !== 0) throw new Error(`the model could not be fetched${detailOf(pulling)}`);
    become('loading');
  }

  async function run(): Promise<number> {
    if (modelId.startsWith('-')) throw new Error('a model id must not look like an option');
    const chosen = await freePort(host);
    port = chosen;
    const filling = { id: modelId, model: spec.model ?? modelId, host, port: chosen };
    const server = start(spec.command, filling);
    const died = server.exited.then((ended): never => {
      if (isStopped) throw new Error('the model was stopped');
      become('failed');
      throw new Error(`the engine ended with status ${ended}${detailOf(server)}`);
    });
    died.catch(() => undefined);
    const answered = async (): Promise<void> => {
      await untilAnswering(addressOf(host, chosen) + spec.readyPath, () => isStopped);
    };
    const loaded = answered().then(async () => {
      if (spec.pull === undefined) return;
      await pull(spec.pull, filling);
      await answered();
    });
    await withTimeout(Promise.race([died, loaded]), spec.readyTimeoutMs, () => {
      throw new Error(`the model was not ready within ${spec.readyTimeoutMs / 1000} seconds`);
    });
    become('ready');
    return chosen;
  }

  async function stop(): Promise<void> {
    isStopped = true;
    await Promise.all(running.map((one) => one.stop()));
  }

  const ready = run().catch(async (error: unknown) => {
    if (!isStopped) become('failed');
    await stop();
    throw error;
  });
  ready.catch(() => undefined);
  return {
    get status() {
      return status;
    },
    get port() {
      return port;
    },
    ready,
    stop,
  };
}

/** Where something that listens on this address is reached from this machine. */
export function addressOf(host: string, port: number): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`;
}

async function untilAnswering(url: string, isGivenUp: () => boolean): Promise<void> {
  while (!isGivenUp()) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(POLL_TIMEOUT_MS) }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    if (answer?.ok === true) return;
    await sleep(POLL_MS);
  }
  throw new Error('the model was stopped');
}

const filled = (
  env: Readonly<Record<string, string>>,
  filling: Filling,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value, filling)]));

/** The last thing that a process wrote, for whoever has to find out why. */
function detailOf(ended: GuardedProcess): string {
  const line = ended.lastLines().at(-1);
  return line === undefined ? '' : `: ${line.slice(0, DETAIL_CHARS_MAX)}`;
}
