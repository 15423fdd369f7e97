import type { DialectError, StreamFailure } from '../dialect.ts';

interface OwnError {
  readonly type: string;
  readonly code: string | null;
}

const TOO_MANY_REQUESTS = 429;

const invalid = (code: string | null): OwnError => ({ type: 'invalid_request_error', code });

/** The types and codes of this API for the gateway's codes; others stay as they are. */
const OWN: Readonly<Record<string, OwnError>> = {
  invalid_json: invalid(null),
  missing_fields: invalid('invalid_value'),
  unauthorized: invalid('invalid_api_key'),
  not_found: invalid(null),
  quota_exceeded: { type: 'insufficient_quota', code: 'insufficient_quota' },
  payment_required: { type: 'insufficient_quota', code: 'insufficient_quota' },
  budget_exceeded: { type: 'insufficient_quota', code: 'budget_exceeded' },
  rate_limit_exceeded: { type: 'requests', code: 'rate_limit_exceeded' },
};

/** The error of a response that was cut off. */
export const streamError = ({ message, upstreamStatus }: StreamFailure) => ({
  code: upstreamStatus === TOO_MANY_REQUESTS ? 'rate_limit_exceeded' : 'server_error',
  message,
});

/** An error as this API writes it. */
export function writeResponsesError({ status, type, code, message, param = null }: DialectError) {
  const known = code === null ? undefined : OWN[code];
  const isInvalid = status < 500 && status !== TOO_MANY_REQUESTS;
  const own = known ?? { type: isInvalid ? 'invalid_request_error' : type, code };
  return { status, body: { error: { message, ...own, param } } };
}
