import { errorCode, isError } from '@model-gateway/kernel';

// The errors of a connection that was never established.
const NOT_CONNECTED: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
];
const CONNECTING_EVENTS: readonly unknown[] = ['lookup', 'connect', 'secureConnect'];

/** Whether a call that failed with this error certainly did not reach the upstream. */
export function neverArrived(failure: unknown): boolean {
  if (NOT_CONNECTED.includes(errorCode(failure) ?? '')) return true;
  return isError(failure) && 'event' in failure && CONNECTING_EVENTS.includes(failure.event);
}
