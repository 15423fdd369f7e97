import { ServiceError, STORE_RETRY_SECS, type ErrorCode } from '@model-gateway/contracts';
import { isError, newId, type Log } from '@model-gateway/kernel';
import { JsonRpcError } from 'jsonrpc-lite';

const APP_ERROR = -32_000;
const AUTH_ERROR = -32_005;
const QUOTA_ERROR = -32_006;
const ADMIN_REQUIRED = -32_007;
const INTERNAL_ERROR = -32_603;

/** The RPC error code of every service error. */
const RPC_CODES = {
  invalid_json: -32_700,
  invalid_request: -32_600,
  missing_fields: -32_602,
  missing_index: -32_602,
  missing_alias: -32_602,
  missing_target: -32_602,
  bad_ref: -32_602,
  bad_session: -32_602,
  bad_since: -32_602,
  bad_until: -32_602,
  bad_group_by: -32_602,
  bad_id: -32_602,
  bad_extra: -32_602,
  request_too_large: -32_600,
  not_found: APP_ERROR,
  method_not_allowed: -32_601,
  authentication_required: AUTH_ERROR,
  invalid_credentials: AUTH_ERROR,
  admin_token_required: AUTH_ERROR,
  admin_required: ADMIN_REQUIRED,
  session_forbidden: APP_ERROR,
  model_not_allowed: APP_ERROR,
  conversation_forbidden: APP_ERROR,
  conversation_not_found: APP_ERROR,
  email_taken: APP_ERROR,
  origin_not_allowed: APP_ERROR,
  registration_closed: APP_ERROR,
  too_many_login_attempts: APP_ERROR,
  provider_exists: APP_ERROR,
  provider_built_in: APP_ERROR,
  group_id_taken: APP_ERROR,
  member_protected: APP_ERROR,
  invitation_refused: APP_ERROR,
  movement_refused: APP_ERROR,
  rate_limit_exceeded: APP_ERROR,
  quota_exceeded: QUOTA_ERROR,
  quota_reserved: QUOTA_ERROR,
  payment_required: QUOTA_ERROR,
  unknown_type: APP_ERROR,
  bad_url: APP_ERROR,
  model_not_found: APP_ERROR,
  all_backends_unhealthy: APP_ERROR,
  unsupported_operation: APP_ERROR,
  bad_gateway: APP_ERROR,
  upstream_auth: APP_ERROR,
  bridge_unreachable: APP_ERROR,
  agent_unavailable: APP_ERROR,
  no_job: APP_ERROR,
  no_video_backend: APP_ERROR,
  job_ended: APP_ERROR,
  store_unavailable: INTERNAL_ERROR,
  internal_error: INTERNAL_ERROR,
} satisfies Record<ErrorCode, number>;

/** The error object for anything that was thrown. Internal errors are logged and sent without their text. */
export function toRpcError(error: unknown, log: Log): JsonRpcError {
  const known = error instanceof ServiceError ? error : tooDeep(error);
  const code = RPC_CODES[known?.code ?? 'internal_error'];
  if (known === undefined || code === INTERNAL_ERROR) {
    const request_id = newId();
    log.error({ error, request_id }, 'an RPC call failed');
    const retry = known?.code === 'store_unavailable' ? { retry_after_secs: STORE_RETRY_SECS } : {};
    const data = { request_id, ...retry };
    return new JsonRpcError(known?.message ?? 'internal error', INTERNAL_ERROR, data);
  }
  return known.details === undefined
    ? new JsonRpcError(known.message, code)
    : new JsonRpcError(known.message, code, known.details);
}

/** Params nested so deeply that the stack overflowed are a client mistake. */
function tooDeep(error: unknown): ServiceError | undefined {
  const isOverflow =
    isError(error) && error.name === 'RangeError' && error.message.includes('call stack');
  return isOverflow
    ? new ServiceError('invalid_request', 'Invalid request: it is nested too deeply')
    : undefined;
}
