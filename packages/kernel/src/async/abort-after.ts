/**
 * Does something with a signal that aborts after a time, or with another signal. Not `AbortSignal.any` with
 * `AbortSignal.timeout`: Node may collect that timeout before it fires, and then nothing ends the work.
 */
export async function abortAfter<Result>(
  timeoutMs: number,
  other: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = (): void => controller.abort(other.reason);
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`no answer within ${timeoutMs} ms`, 'TimeoutError'));
  }, timeoutMs);
  if (other.aborted) abort();
  else other.addEventListener('abort', abort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    other.removeEventListener('abort', abort);
  }
}
