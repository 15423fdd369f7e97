import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describeError, raceAbort, type Log } from '@model-gateway/kernel';
import { EngineError } from './errors.ts';
import type { HostResponse, HostMessage, NumberedRequest, HostRequest } from './host-messages.ts';

const CLOSE_MS = 1_500;

/** The process that runs a vendor's library. */
export interface EngineHost {
  readonly pid: number | null;
  /** Sends a request after the earlier ones have finished. If the library does not respond in time, its process is killed. */
  request(request: HostRequest, timeoutMs: number, signal?: AbortSignal): Promise<HostResponse>;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface HostOptions {
  readonly log: Log;
  /** The variables that the library may read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onEvent: (event: string) => void;
  /** Called once when the process ends unexpectedly. */
  readonly onEnd: (reason: string) => void;
  /** The path of the host's program, if it is not beside this module. */
  readonly program?: string;
}

/** Starts the process; the library is not loaded yet. */
export function startEngineHost({
  log,
  environment,
  onEvent,
  onEnd,
  program = fileURLToPath(new URL('engine-host-main.js', import.meta.url)),
}: HostOptions): EngineHost {
  const child = startChild(program, environment);
  const pending = new Map<number, PendingRequest>();
  let last = 0;
  let previous: Promise<unknown> = Promise.resolve();
  let endReason: string | undefined;
  let closing: Promise<void> | undefined;
  let isReported = false;
  /** No more requests are possible, even if the process has not exited yet. */
  const fail = (reason: string): void => {
    endReason ??= reason;
    // Processes that the library started may still run.
    kill(child);
    for (const id of pending.keys()) take(pending, id)?.reject(crashed(endReason));
    if (closing === undefined && !isReported) onEnd(endReason);
    isReported = true;
  };
  const ended = new Promise<void>((resolve) => {
    const finish = (reason: string): void => {
      fail(reason);
      resolve();
    };
    child.once('exit', (code, signal) => finish(`the engine's process ended (${signal ?? code})`));
    child.once('error', (error) => finish(`the engine's process failed: ${describeError(error)}`));
  });
  child.on('message', (message: HostMessage) => {
    if ('event' in message) onEvent(message.event);
    else take(pending, message.id)?.resolve(message.response);
  });

  function send(request: HostRequest, timeoutMs: number): Promise<HostResponse> {
    if (endReason !== undefined || !child.connected) {
      return Promise.reject(crashed(endReason ?? "the engine's process has ended"));
    }
    const id = (last += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const error = hung(request.kind, timeoutMs);
        log.warn({ reason: error.message }, 'the engine does not respond; ending it');
        take(pending, id)?.reject(error);
        fail(error.message);
      }, timeoutMs);
      pending.set(id, { resolve, reject, timer });
      child.send({ id, request } satisfies NumberedRequest, (error) => {
        if (error !== null) take(pending, id)?.reject(crashed(describeError(error)));
      });
    });
  }

  return {
    pid: child.pid ?? null,
    request(request, timeoutMs, signal) {
      // The C interface allows one call at a time, and a cancelled call may still be running.
      const response = previous.then(() => send(request, timeoutMs));
      previous = response.catch(() => undefined);
      return signal === undefined ? response : raceAbort(response, signal, cancelled);
    },
    close() {
      closing ??= (async () => {
        if (pending.size === 0) await send({ kind: 'close' }, CLOSE_MS).catch(() => undefined);
        kill(child);
        await ended;
      })();
      return closing;
    },
  };
}

interface PendingRequest {
  resolve(response: HostResponse): void;
  reject(error: EngineError): void;
  readonly timer: NodeJS.Timeout;
}

function take(pending: Map<number, PendingRequest>, id: number): PendingRequest | undefined {
  const entry = pending.get(id);
  pending.delete(id);
  clearTimeout(entry?.timer);
  return entry;
}

/** In its own group, so that the library's processes end with it. Its output goes to standard error, because standard output belongs to MCP. */
function startChild(program: string, env: HostOptions['environment']): ChildProcess {
  return fork(program, {
    detached: true,
    execArgv: [],
    env,
    serialization: 'advanced',
    stdio: ['ignore', 2, 2, 'ipc'],
  });
}

function kill(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== 'win32')
      process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // All processes have exited already.
  }
}

function cancelled({ reason }: AbortSignal): Error {
  return reason instanceof Error && reason.name !== 'AbortError'
    ? reason
    : new EngineError('TIMEOUT', 'the call was cancelled before the engine had finished.');
}

function hung(kind: string, timeoutMs: number): EngineError {
  return new EngineError('TIMEOUT', `the engine did not finish ${kind} within ${timeoutMs} ms.`, {
    hint: 'It was ended; the next call restarts it.',
  });
}

function crashed(reason: string): EngineError {
  return new EngineError('BROWSER_CRASHED', `${reason.replace(/\.$/, '')}.`, {
    hint: 'The next call restarts it.',
  });
}
