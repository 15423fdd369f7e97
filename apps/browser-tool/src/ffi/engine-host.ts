import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describeError, raceAbort, type Cancel, type Log } from '@model-gateway/kernel';
import { ToolError } from '../tool-error.ts';
import type { HostResponse, HostMessage, NumberedRequest, HostRequest } from './host-messages.ts';

const CLOSE_MS = 1_500;

/** The process that holds a vendor's library. */
export interface EngineHost {
  readonly pid: number | null;
  /** Asks, after everything that was asked before; a library that does not answer in time is given up, with its process. */
  ask(request: HostRequest, timeoutMs: number, signal?: AbortSignal): Promise<HostResponse>;
  /** Idempotent. */
  close(): Promise<void>;
}

interface HostOptions {
  readonly log: Log;
  readonly onEvent: (event: string) => void;
  /** Called once when the process ends without having been told to. */
  readonly onEnd: (reason: string) => void;
  /** Where the host's program lies; beside this file unless a test says otherwise. */
  readonly program?: string;
}

/** Starts the process; the library is not loaded yet. */
export function startEngineHost({ log, onEvent, onEnd, program }: HostOptions): EngineHost {
  const child = startChild(
    program ?? fileURLToPath(new URL('engine-host-main.js', import.meta.url)),
  );
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let line: Promise<unknown> = Promise.resolve();
  let end: string | undefined;
  let closing: Promise<void> | undefined;
  let isTold = false;
  /** Nothing can be asked any more, also while the process has not quite ended yet. */
  const fall = (reason: string): void => {
    end ??= reason;
    // What the library itself started may still be there.
    kill(child);
    for (const id of waiting.keys()) take(waiting, id)?.reject(crashed(end));
    if (closing === undefined && !isTold) onEnd(end);
    isTold = true;
  };
  const ended = new Promise<void>((resolve) => {
    const finish = (reason: string): void => {
      fall(reason);
      resolve();
    };
    child.once('exit', (code, signal) => finish(`the engine's process ended (${signal ?? code})`));
    child.once('error', (error) => finish(`the engine's process failed: ${describeError(error)}`));
  });
  child.on('message', (message: HostMessage) => {
    if ('event' in message) onEvent(message.event);
    else take(waiting, message.id)?.resolve(message.answer);
  });

  function send(request: HostRequest, timeoutMs: number): Promise<HostResponse> {
    if (end !== undefined || !child.connected) {
      return Promise.reject(crashed(end ?? "the engine's process has ended"));
    }
    const id = (last += 1);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const error = hung(request.kind, timeoutMs);
        log.warn({ reason: error.message }, 'the engine is given up');
        take(waiting, id)?.reject(error);
        fall(error.message);
      }, timeoutMs);
      waiting.set(id, { resolve, reject, timer });
      child.send({ id, request } satisfies NumberedRequest, (error) => {
        if (error !== null) take(waiting, id)?.reject(crashed(describeError(error)));
      });
    });
  }

  return {
    pid: child.pid ?? null,
    ask(request, timeoutMs, signal) {
      // The interface allows one call at a time, and one that its caller no longer waits for may still be running.
      const answer = line.then(() => send(request, timeoutMs));
      line = answer.catch(() => undefined);
      return signal === undefined ? answer : raceAbort(answer, signal, abandoned);
    },
    close() {
      closing ??= (async () => {
        if (waiting.size === 0) await send({ kind: 'close' }, CLOSE_MS).catch(() => undefined);
        kill(child);
        await ended;
      })();
      return closing;
    },
  };
}

interface Waiting {
  resolve(answer: HostResponse): void;
  reject(error: ToolError): void;
  readonly timer: NodeJS.Timeout;
}

function take(waiting: Map<number, Waiting>, id: number): Waiting | undefined {
  const entry = waiting.get(id);
  waiting.delete(id);
  clearTimeout(entry?.timer);
  return entry;
}

/** In a group of its own, so that whatever the library starts ends with it. Nothing that it prints may reach our standard output, which belongs to the protocol. */
function startChild(program: string): ChildProcess {
  return fork(program, {
    detached: true,
    execArgv: [],
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
    // All of it is gone already.
  }
}

function abandoned({ reason }: Cancel): ToolError {
  return reason instanceof ToolError
    ? reason
    : new ToolError('TIMEOUT', 'the call was ended before the engine had finished.');
}

function hung(kind: string, timeoutMs: number): ToolError {
  return new ToolError('TIMEOUT', `the engine did not finish ${kind} within ${timeoutMs} ms.`, {
    hint: 'It was given up; the next call starts it anew.',
  });
}

function crashed(reason: string): ToolError {
  return new ToolError('BROWSER_CRASHED', `${reason.replace(/\.$/, '')}.`, {
    hint: 'The next call starts it anew.',
  });
}
