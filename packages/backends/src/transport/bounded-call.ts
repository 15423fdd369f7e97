import { abortReason, createCanceller, startPeerTimeout, type Cancel } from '@model-gateway/kernel';

/** Runs a call with a total time limit; it ends with its caller. */
export async function boundedCall<Result>(
  milliseconds: number,
  cancel: Cancel,
  call: (bounded: Cancel) => Promise<Result>,
): Promise<Result> {
  const canceller = createCanceller(cancel.onEnd, cancel.onFirstByte);
  const onAbort = (): void => canceller.abort(abortReason(cancel));
  cancel.addEventListener('abort', onAbort, { once: true });
  if (cancel.aborted) onAbort();
  const timeout = startPeerTimeout(milliseconds, () => {
    canceller.abort(new Error(`the upstream took longer than ${milliseconds} ms`));
  });
  try {
    return await call(canceller.cancel);
  } finally {
    timeout.stop();
    cancel.removeEventListener('abort', onAbort);
  }
}
