import { startPeerTimeout } from '@model-gateway/kernel';
import {
  DEFAULT_RETRIES,
  UnsupportedByBackend,
  UpstreamFailure,
  type Capability,
  type RetryReason,
  type Lease,
} from '@model-gateway/router';

const SERVER_ERROR = 500;
const GATEWAY_TIMEOUT = 504;
const MS_PER_SECOND = 1_000;

/** The capabilities whose requests cost or change something each time they are carried out. */
const WITH_EFFECTS: ReadonlySet<Capability> = new Set([
  'images',
  'speech',
  'transcription',
  'video',
  'invoke',
]);

/**
 * Whether a request that failed with this can be sent again, to any target, without the risk that it is carried out twice: an
 * upstream that timed out or lost the connection may have carried it out.
 */
export function isSafeToRepeat(capability: Capability, failure: unknown): boolean {
  if (!WITH_EFFECTS.has(capability) || failure instanceof UnsupportedByBackend) return true;
  if (!(failure instanceof UpstreamFailure)) return false;
  const { hadNoEffect, wasAnswered, wasUnreadable, status } = failure;
  return hadNoEffect || (wasAnswered && !wasUnreadable && status !== GATEWAY_TIMEOUT);
}

/** Whether the route of a request that failed so often, the last time with this, lets it be sent to another target. */
export function mayRetry({ retries = DEFAULT_RETRIES }: Lease, failure: unknown, failures: number) {
  if (!(failure instanceof UpstreamFailure) || failures >= retries.attempts) return false;
  return retries.retryOn.includes(reasonOf(failure));
}

function reasonOf({ isRateLimit, isTimeout, status = 0 }: UpstreamFailure): RetryReason {
  if (isRateLimit) return '429';
  if (isTimeout) return 'timeout';
  return status >= SERVER_ERROR ? '5xx' : 'transport';
}

/** Calls a target. `onFirstByte`, where something depends on it, is called when the first byte of a whole answer arrives. */
export type Ask<Answer> = (
  lease: Lease,
  signal: AbortSignal,
  onFirstByte?: () => void,
) => Promise<Answer>;

/** Calls a target, which may take as long as its route says until the first byte. */
export async function askWithin<Answer>(
  lease: Lease,
  signal: AbortSignal,
  ask: Ask<Answer>,
  onFirstByte?: () => void,
): Promise<Answer> {
  const timeoutMs = lease.retries?.timeoutMs;
  if (timeoutMs === undefined) return ask(lease, signal, onFirstByte);
  const controller = new AbortController();
  const begin = (): void => {
    timeout.stop();
    onFirstByte?.();
  };
  const leave = (): void => {
    controller.abort(signal.reason instanceof Error ? signal.reason : new Error('the caller left'));
  };
  if (signal.aborted) leave();
  // The listener stays after the first byte, so that a client that leaves also ends the rest of the answer.
  signal.addEventListener('abort', leave, { once: true });
  let tooLate: string | undefined;
  const timeout = startPeerTimeout(timeoutMs, () => {
    tooLate = `timeout: the upstream sent nothing for ${timeoutMs / MS_PER_SECOND} s`;
    controller.abort(new Error(tooLate));
  });
  try {
    return await ask(lease, controller.signal, begin);
  } catch (failure) {
    signal.removeEventListener('abort', leave);
    if (tooLate === undefined) throw failure;
    const hadNoEffect = failure instanceof UpstreamFailure && failure.hadNoEffect;
    throw new UpstreamFailure(tooLate, { isBackendAtFault: true, isTimeout: true, hadNoEffect });
  } finally {
    timeout.stop();
  }
}
