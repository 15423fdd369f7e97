import { type Cancel, describeError } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';
import { cleanMessage, upstreamFailed } from '../errors/upstream-error.ts';

/** A call that the peer answered with an error. */
export class RpcRefusal extends UpstreamFailure {}

/** A call, or a stream, that the peer left waiting for too long. */
export class RpcTimeout extends UpstreamFailure {}

/** How one call is waited for. */
export interface CallOptions<Result> {
  readonly signal: Cancel;
  readonly timeoutMs: number;
  /** Reads the result as soon as its frame is there, before any later frame is looked at. */
  readonly read: (result: unknown) => Result;
  /** Sees a result that came after the caller had left. */
  readonly onUnwanted?: (result: unknown) => void;
}

/** The answer to a call. */
export interface RpcAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string } | undefined;
}

/** The calls of one connection that wait for their answers. */
export interface RpcCalls {
  /** Takes a number for a call and hands it to `send`. */
  add<Result>(options: CallOptions<Result>, send: (id: number) => void): Promise<Result>;
  settle(answer: RpcAnswer): void;
  failAll(error: UpstreamFailure): void;
}

interface Waiting {
  accept(result: unknown): void;
  reject(error: Error): void;
}

const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const CALLERS_FAULTS: readonly number[] = [INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS];

export function createRpcCalls(secret: string | null): RpcCalls {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;

  function add<Result>(options: CallOptions<Result>, send: (id: number) => void): Promise<Result> {
    const { signal, timeoutMs, read, onUnwanted } = options;
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(aborted(signal));
        return;
      }
      lastId += 1;
      const id = lastId;
      const leave = (error: Error): void => {
        stopWaiting();
        if (onUnwanted === undefined) waiting.delete(id);
        else waiting.set(id, { accept: onUnwanted, reject: () => undefined });
        reject(error);
      };
      const onAbort = (): void => leave(aborted(signal));
      const timer = setTimeout(() => leave(timedOut(timeoutMs)), timeoutMs);
      const stopWaiting = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.set(id, {
        accept(result) {
          stopWaiting();
          resolve(read(result));
        },
        reject(error) {
          stopWaiting();
          reject(error);
        },
      });
      try {
        send(id);
      } catch (error) {
        waiting.get(id)?.reject(upstreamFailed(error));
        waiting.delete(id);
      }
    });
  }

  return {
    add,
    settle({ id, result, error }) {
      const call = waiting.get(id);
      waiting.delete(id);
      if (error !== undefined) call?.reject(refusal(error, secret));
      else {
        try {
          call?.accept(result);
        } catch (unreadable) {
          call?.reject(upstreamFailed(unreadable));
        }
      }
    },
    failAll(error) {
      const calls = [...waiting.values()];
      waiting.clear();
      for (const call of calls) call.reject(error);
    },
  };
}

/** The failure of whoever was left waiting. */
export function timedOut(milliseconds: number): RpcTimeout {
  return new RpcTimeout(`the upstream sent nothing for ${milliseconds} ms`, {
    isBackendAtFault: true,
  });
}

/** The failure of a call whose caller left. */
export function aborted({ reason }: Cancel): UpstreamFailure {
  return new UpstreamFailure(describeError(reason), { isBackendAtFault: false, cause: reason });
}

function refusal(
  { code, message }: NonNullable<RpcAnswer['error']>,
  secret: string | null,
): RpcRefusal {
  return new RpcRefusal(`upstream ${code}: ${cleanMessage(message, secret)}`, {
    isBackendAtFault: !CALLERS_FAULTS.includes(code),
    loggedAs: `upstream ${code}`,
  });
}
