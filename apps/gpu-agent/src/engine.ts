import { setTimeout as sleep } from 'node:timers/promises';
import {
  freePort,
  startGuarded,
  withTimeout,
  type GuardedProcess,
  type Log,
} from '@model-gateway/kernel';
import { fill, type EngineSpec, type TemplateValues } from './engine-spec.ts';
import { readProgress, type ReadProgress } from './progress-reader.ts';

/** One model with its engine process, from start to stop. */
export interface Engine {
  readonly status: EngineStatus;
  /** Known once it has been started. */
  readonly port: number | undefined;
  /** Resolves with the port when the model responds; rejects with an error for the caller. */
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
  /** Called whenever the status has changed. */
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

  function setStatus(next: EngineStatus): void {
    if (status === next) return;
    status = next;
    onChange();
  }

  function onLine(line: string): void {
    // The output of a serving engine may contain prompts.
    if (status !== 'pulling' && status !== 'loading') return;
    log.debug({ modelId, line }, 'engine output');
    const progress = readProgress(line, status);
    if (progress !== undefined) onProgress(progress);
  }

  function start(template: readonly string[], values: TemplateValues): GuardedProcess {
    if (isStopped) throw new Error('the model was stopped');
    const started = startGuarded({
      command: template.map((part) => fill(part, values)),
      environment: { ...env, ...filled(spec.env, values) },
      cwd: process.cwd(),
      graceSeconds: spec.stopGraceSecs,
      wholeGroup: true,
      onLine,
    });
    running.push(started);
    return started;
  }

  /** Runs the command that downloads the model. */
  async function pull(template: readonly string[], values: TemplateValues): Promise<void> {
    setStatus('pulling');
    const pulling = start(template, values);
    const ended = await pulling.exited;
    if (ended !== 0) throw new Error(`downloading the model failed${detailOf(pulling)}`);
    setStatus('loading');
  }

  async function run(): Promise<number> {
    if (modelId.startsWith('-')) throw new Error('a model id must not look like an option');
    const chosen = await freePort(host);
    port = chosen;
    const values = { id: modelId, model: spec.model ?? modelId, host, port: chosen };
    const server = start(spec.command, values);
    const serverExited = server.exited.then((ended): never => {
      if (isStopped) throw new Error('the model was stopped');
      setStatus('failed');
      throw new Error(`the engine ended with status ${ended}${detailOf(server)}`);
    });
    serverExited.catch(() => undefined);
    const responding = async (): Promise<void> => {
      await untilResponding(addressOf(host, chosen) + spec.readyPath, () => isStopped);
    };
    const loaded = responding().then(async () => {
      if (spec.pull === undefined) return;
      await pull(spec.pull, values);
      await responding();
    });
    await withTimeout(Promise.race([serverExited, loaded]), spec.readyTimeoutMs, () => {
      throw new Error(`the model was not ready within ${spec.readyTimeoutMs / 1000} seconds`);
    });
    setStatus('ready');
    return chosen;
  }

  async function stop(): Promise<void> {
    isStopped = true;
    await Promise.all(running.map((one) => one.stop()));
  }

  const ready = run().catch(async (error: unknown) => {
    if (!isStopped) setStatus('failed');
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

/** The URL of a server that listens on this address, from this machine. */
export function addressOf(host: string, port: number): string {
  const local = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${local.includes(':') ? `[${local}]` : local}:${port}`;
}

async function untilResponding(url: string, isCancelled: () => boolean): Promise<void> {
  while (!isCancelled()) {
    const response = await fetch(url, { signal: AbortSignal.timeout(POLL_TIMEOUT_MS) }).catch(
      () => undefined,
    );
    await response?.body?.cancel();
    if (response?.ok === true) return;
    await sleep(POLL_MS);
  }
  throw new Error('the model was stopped');
}

const filled = (
  env: Readonly<Record<string, string>>,
  values: TemplateValues,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value, values)]));

/** The last line of output, which often contains the cause. */
function detailOf(ended: GuardedProcess): string {
  const line = ended.lastLines().at(-1);
  return line === undefined ? '' : `: ${line.slice(0, DETAIL_CHARS_MAX)}`;
}
