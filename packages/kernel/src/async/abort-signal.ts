import { isError } from '../errors/errors.ts';

/** Why work was to stop, as an error. */
export function abortReason({ reason }: AbortSignal): Error {
  return isError(reason) ? reason : new Error('the call was aborted');
}

/** Resolves when the signal is aborted. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Settles as the work does, or rejects with the reason of the signal when that is aborted first; the work goes on. */
export function raceAbort<Result>(
  work: Promise<Result>,
  signal: AbortSignal,
  failure: (signal: AbortSignal) => Error = abortReason,
): Promise<Result> {
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(failure(signal));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}
