import { createCanceller, startPeerTimeout, type Cancel } from '@model-gateway/kernel';
import {
  DEFAULT_RETRIES,
  UpstreamFailure,
  type RetryReason,
  type ChosenBackend,
} from '@model-gateway/router';

const SERVER_ERROR = 500;
const MS_PER_SECOND = 1_000;

/** Whether the route of a request that failed so often, the last time with this, lets it be sent to another target. */
export function mayRetry(
  { retries = DEFAULT_RETRIES }: ChosenBackend,
  failure: unknown,
  failures: number,
) {
  if (!(failure instanceof UpstreamFailure) || failures >= retries.attempts) return false;
  return retries.retryOn.includes(reasonOf(failure));
}

function reasonOf({ isRateLimit, isTimeout, status = 0 }: UpstreamFailure): RetryReason {
  if (isRateLimit) return '429';
  if (isTimeout) return 'timeout';
  return status >= SERVER_ERROR ? '5xx' : 'transport';
}

/** Calls a target, which may take as long as its route says until the first byte. */
export async function askWithin<Answer>(
  route: ChosenBackend,
  signal: Cancel,
  ask: (route: ChosenBackend, signal: Cancel) => Promise<Answer>,
): Promise<Answer> {
  const timeoutMs = route.retries?.timeoutMs;
  if (timeoutMs === undefined) return ask(route, signal);
  const canceller = createCanceller(signal.onEnd, () => {
    timeout.stop();
    signal.onFirstByte?.();
  });
  const leave = (): void => {
    canceller.abort(signal.reason instanceof Error ? signal.reason : new Error('the caller left'));
  };
  if (signal.aborted) leave();
  // The listener stays after the first byte, so that a client that leaves also ends the rest of the answer.
  signal.addEventListener('abort', leave, { once: true });
  let tooLate: UpstreamFailure | undefined;
  const timeout = startPeerTimeout(timeoutMs, () => {
    const message = `timeout: the upstream sent nothing for ${timeoutMs / MS_PER_SECOND} s`;
    tooLate = new UpstreamFailure(message, { isBackendAtFault: true, isTimeout: true });
    canceller.abort(tooLate);
  });
  try {
    return await ask(route, canceller.cancel);
  } catch (failure) {
    signal.removeEventListener('abort', leave);
    throw tooLate ?? failure;
  } finally {
    timeout.stop();
  }
}
