import { errorCode, isError } from '@model-gateway/kernel';

// What a connection that never came to be fails with.
const NOT_CONNECTED: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
];
const CONNECTING_EVENTS: readonly unknown[] = ['lookup', 'connect', 'secureConnect'];

/** Whether a call certainly did not reach the upstream, so that repeating it cannot do anything twice. */
export function neverArrived(failure: unknown): boolean {
  const cause = isError(failure) ? failure.cause : undefined;
  if (NOT_CONNECTED.includes(errorCode(cause) ?? '')) return true;
  return isError(cause) && 'event' in cause && CONNECTING_EVENTS.includes(cause.event);
}
