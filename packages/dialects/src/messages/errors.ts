import type { DialectError } from '../dialect.ts';

const OVERLOADED = 529;

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  [OVERLOADED]: 'overloaded_error',
};

/** The status and the body of an error of this API. */
export function messagesError({ status: given, message, requestId }: DialectError) {
  const status = statusOf(given);
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { status, body: { type: 'error', error: { type, message }, request_id: requestId } };
}

/** This API knows neither 502 nor 503: a service that cannot answer now is overloaded. */
function statusOf(status: number): number {
  if (status === 503) return OVERLOADED;
  return status === 502 ? 500 : status;
}
