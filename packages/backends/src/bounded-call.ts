/** Runs a call that may take only so long in all, and ends with its caller. */
export async function boundedCall<Result>(
  milliseconds: number,
  signal: AbortSignal,
  call: (bounded: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const timer = setTimeout(() => {
    controller.abort(new Error(`the upstream took longer than ${milliseconds} ms`));
  }, milliseconds);
  try {
    return await call(controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
