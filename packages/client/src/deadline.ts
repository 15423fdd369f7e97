import { RpcConnectionError } from './rpc-errors.ts';

/** A signal that aborts after a timeout or with one of the given signals; its reason is the error to throw. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Clears the timer and the listeners. */
  release(): void;
}

// Not AbortSignal.any: on Node 20 it holds memory until the last of the signals is collected.
export function startDeadline(timeoutMs: number, signals: readonly AbortSignal[]): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new RpcConnectionError('timeout', `no response within ${timeoutMs} ms`));
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
