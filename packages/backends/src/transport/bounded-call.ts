import { abortReason, startPeerTimeout } from '@model-gateway/kernel';

/** Runs a call with a total time limit; it ends with its caller. */
export async function boundedCall<Result>(
  milliseconds: number,
  signal: AbortSignal,
  call: (bounded: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(abortReason(signal));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timeout = startPeerTimeout(milliseconds, () => {
    controller.abort(new Error(`the upstream took longer than ${milliseconds} ms`));
  });
  try {
    return await call(controller.signal);
  } finally {
    timeout.stop();
    signal.removeEventListener('abort', onAbort);
  }
}
