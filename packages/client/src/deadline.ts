import { RpcConnectionError } from './rpc-errors.ts';

/** A signal that fires when time is up or when one of the given signals does; its reason is what to throw. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Lets go of the timer and of the signals. */
  release(): void;
}

// Not AbortSignal.any: on Node 20 it keeps memory for as long as the longest of the signals lives.
export function startDeadline(timeoutMs: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new RpcConnectionError('timeout', `no answer in ${timeoutMs} ms`));
  }, timeoutMs);
  const listeners = signals.map((signal) => {
    const follow = (): void => controller.abort(signal.reason);
    if (signal.aborted) follow();
    signal.addEventListener('abort', follow, { once: true });
    return { signal, follow };
  });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      for (const { signal, follow } of listeners) signal.removeEventListener('abort', follow);
    },
  };
}
