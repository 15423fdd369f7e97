import { ServiceError, STORE_RETRY_SECS, type ErrorCode } from '@model-gateway/contracts';

/** How an error looks on the HTTP surfaces. */
export interface RestError {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  /** A retry cannot succeed, though the status does not say so; official clients would otherwise retry by themselves. */
  readonly isFinal?: boolean;
  /** When to try again, where the error itself does not say it. */
  readonly retryAfterSecs?: number;
}

/** The type of the errors that a client causes by its request. */
export const INVALID_REQUEST = 'invalid_request';

/** For what may be back soon, where no time is known. */
const RETRY_SECS = 5;

const invalid = (code: string, status = 400): RestError => ({
  status,
  type: INVALID_REQUEST,
  code,
});
const server = (code: string, status = 500): RestError => ({ status, type: 'server_error', code });
const auth = (code: string, status: number): RestError => ({ status, type: 'auth_error', code });

/** Status, type and code of every error on the HTTP surfaces. */
export const REST_ERRORS = {
  invalid_json: invalid('invalid_json'),
  invalid_body: invalid('invalid_body'),
  invalid_request: invalid('invalid_request'),
  missing_fields: invalid('missing_fields'),
  invalid_value: invalid('invalid_value'),
  missing_index: invalid('missing_index'),
  missing_alias: invalid('missing_alias'),
  missing_target: invalid('missing_target'),
  in_configuration_file: invalid('in_configuration_file', 409),
  bad_ref: invalid('bad_ref'),
  bad_session: invalid('bad_session'),
  bad_since: invalid('bad_since'),
  bad_until: invalid('bad_until'),
  bad_group_by: invalid('bad_group_by'),
  bad_id: invalid('bad_id'),
  bad_extra: invalid('bad_extra'),
  request_too_large: invalid('request_too_large', 413),
  unsupported_encoding: invalid('unsupported_encoding', 415),
  not_found: invalid('not_found', 404),
  method_not_allowed: invalid('method_not_allowed', 405),
  unsupported_tool: invalid('unsupported_tool'),
  unsupported_thread: invalid('thread_unsupported_request'),
  previous_response_not_found: invalid('previous_response_not_found'),
  context_too_large: invalid('context_too_large'),
  authentication_required: auth('unauthorized', 401),
  invalid_credentials: auth('unauthorized', 401),
  admin_token_required: auth('unauthorized', 401),
  admin_required: auth('forbidden', 403),
  session_forbidden: auth('session_forbidden', 403),
  model_not_allowed: auth('model_not_allowed', 403),
  address_not_allowed: auth('address_not_allowed', 403),
  conversation_forbidden: auth('conversation_forbidden', 403),
  conversation_not_found: invalid('conversation_not_found', 404),
  email_taken: invalid('email_taken', 409),
  origin_not_allowed: auth('origin_not_allowed', 403),
  registration_closed: auth('registration_closed', 403),
  sign_in_refused: auth('sign_in_refused', 403),
  account_exists: auth('account_exists', 409),
  identity_provider_unavailable: {
    ...server('identity_provider_unavailable', 503),
    retryAfterSecs: RETRY_SECS,
  },
  too_many_login_attempts: auth('too_many_login_attempts', 429),
  provider_exists: invalid('provider_exists', 409),
  provider_built_in: invalid('provider_built_in', 409),
  group_id_taken: invalid('group_id_taken', 409),
  member_protected: invalid('member_protected', 409),
  account_protected: invalid('account_protected', 409),
  invitation_refused: auth('invitation_refused', 403),
  movement_refused: invalid('movement_refused', 409),
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
  },
  quota_exceeded: { status: 429, type: 'quota_error', code: 'quota_exceeded', isFinal: true },
  // Without a final refusal: the reservations end with their requests.
  quota_reserved: { status: 429, type: 'quota_error', code: 'quota_exceeded' },
  payment_required: { status: 402, type: 'insufficient_credits', code: 'payment_required' },
  budget_exceeded: { status: 402, type: 'budget_error', code: 'budget_exceeded' },
  budget_reserved: { status: 402, type: 'budget_error', code: 'budget_exceeded' },
  storage_full: { status: 403, type: 'quota_error', code: 'storage_full' },
  unknown_type: invalid('unknown_type'),
  bad_url: invalid('bad_url'),
  model_not_found: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  all_backends_unhealthy: server('internal_error'),
  unsupported_operation: { ...server('backend_error'), isFinal: true },
  bad_gateway: server('bad_gateway', 502),
  upstream_auth: server('upstream_auth', 502),
  bridge_unreachable: server('bridge_unreachable', 502),
  agent_unavailable: { ...server('agent_unavailable', 503), retryAfterSecs: RETRY_SECS },
  no_job: { status: 404, type: 'not_found', code: 'no_job' },
  no_video_backend: {
    status: 503,
    type: 'video_backend_error',
    code: 'no_backend',
    retryAfterSecs: RETRY_SECS,
  },
  job_ended: invalid('job_ended', 409),
  idempotency_conflict: invalid('idempotency_conflict', 409),
  store_unavailable: { ...server('store_unavailable', 503), retryAfterSecs: STORE_RETRY_SECS },
  overloaded: { ...server('overloaded', 503), retryAfterSecs: RETRY_SECS },
  internal_error: server('internal_error'),
} satisfies Record<ErrorCode, RestError>;

/** What OpenAI's API calls the errors that a client causes by its request. */
const OPENAI_INVALID_REQUEST = 'invalid_request_error';

/** What OpenAI's API calls otherwise. */
const OPENAI_ERRORS: Partial<Record<ErrorCode, RestError>> = {
  authentication_required: { status: 401, type: OPENAI_INVALID_REQUEST, code: 'invalid_api_key' },
};

/** An error as OpenAI's API has it. */
export function openAiError(code: ErrorCode): RestError {
  const error = OPENAI_ERRORS[code] ?? REST_ERRORS[code];
  return error.type === INVALID_REQUEST ? { ...error, type: OPENAI_INVALID_REQUEST } : error;
}

/** What the request log keeps of an error, whose status it has over HTTP. */
export function failureOf(error: unknown) {
  const known = error instanceof ServiceError ? error : undefined;
  const { status, code } = REST_ERRORS[known?.code ?? 'internal_error'];
  return { status, code, message: known?.message ?? 'internal error' };
}
