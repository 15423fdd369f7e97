import { ServiceError } from '@model-gateway/contracts';
import { errorCode, isError } from '@model-gateway/kernel';
import { UpstreamFailure } from '@model-gateway/router';

const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;
const CLIENT_ERROR = 400;
const TIMEOUT = /time.?out|took longer|did not answer within/i;

/** The kind of failure of a call to a backend. */
export type FailureKind =
  | 'rate_limited'
  | 'refused'
  | 'server_error'
  | 'timeout'
  | 'broken_off'
  | 'unreadable'
  | 'unsupported'
  | 'transport';

/** The kind of a failure; a response that began and did not end was broken off, whatever the reason. */
export function failureKindOf(failure: unknown, hadBegun: boolean): FailureKind {
  if (hadBegun) return 'broken_off';
  if (!(failure instanceof UpstreamFailure)) {
    return failure instanceof ServiceError ? 'unsupported' : 'transport';
  }
  const { status } = failure;
  if (status !== undefined) return kindOfStatus(status);
  if (failure.wasUnreadable) return 'unreadable';
  return isTimeout(failure) ? 'timeout' : 'transport';
}

/** The failure in a trace: the status if there was one. */
export function errorTypeOf(failure: unknown, kind: FailureKind): string {
  const status = failure instanceof UpstreamFailure ? failure.status : undefined;
  return status === undefined || kind === 'broken_off' ? kind : String(status);
}

function kindOfStatus(status: number): FailureKind {
  if (status === TOO_MANY_REQUESTS) return 'rate_limited';
  if (status >= SERVER_ERROR) return 'server_error';
  // A good status with an error inside is a failure of the server as well.
  return status >= CLIENT_ERROR ? 'refused' : 'server_error';
}

function isTimeout(failure: UpstreamFailure): boolean {
  return TIMEOUT.test(`${errorCode(failure.cause) ?? ''} ${textOf(failure)}`);
}

const textOf = (failure: UpstreamFailure): string =>
  isError(failure.cause) ? failure.cause.message : failure.message;
