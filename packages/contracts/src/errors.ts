import { AppError } from '@model-gateway/kernel';

/** Every error code of the service. Each API has one table that translates the codes. */
export const ERROR_CODES = [
  // The request itself.
  'invalid_json',
  'invalid_body',
  'invalid_request',
  'missing_fields',
  'invalid_value',
  'missing_index',
  'missing_alias',
  'missing_target',
  'in_configuration_file',
  'bad_ref',
  'bad_session',
  'bad_since',
  'bad_until',
  'bad_group_by',
  'bad_id',
  'bad_extra',
  'request_too_large',
  'unsupported_encoding',
  'not_found',
  'method_not_allowed',
  'unsupported_tool',
  'unsupported_thread',
  'previous_response_not_found',
  'context_too_large',
  // Authentication and permissions.
  'authentication_required',
  'invalid_credentials',
  'admin_token_required',
  'admin_required',
  'session_forbidden',
  'model_not_allowed',
  'address_not_allowed',
  'conversation_forbidden',
  'conversation_not_found',
  // Accounts.
  'email_taken',
  'origin_not_allowed',
  'registration_closed',
  'sign_in_refused',
  'account_exists',
  'identity_provider_unavailable',
  'too_many_login_attempts',
  'provider_exists',
  'provider_built_in',
  'group_id_taken',
  'member_protected',
  'account_protected',
  'invitation_refused',
  'movement_refused',
  // Limits.
  'rate_limit_exceeded',
  'quota_exceeded',
  'quota_reserved',
  'payment_required',
  'budget_exceeded',
  'budget_reserved',
  'storage_full',
  // Routing and upstreams.
  'unknown_type',
  'bad_url',
  'model_not_found',
  'all_backends_unhealthy',
  'unsupported_operation',
  'bad_gateway',
  'upstream_auth',
  'bridge_unreachable',
  'agent_unavailable',
  // Video jobs.
  'no_job',
  'no_video_backend',
  'job_ended',
  'idempotency_conflict',
  // The service itself.
  'store_unavailable',
  'overloaded',
  'internal_error',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** How soon a caller may try again when the store was not available. */
export const STORE_RETRY_SECS = 5;

/** The error type of the service: thrown anywhere, translated once per API. */
export class ServiceError extends AppError<ErrorCode> {}

/** The error answer of an upstream, with the fields that its body had. */
export interface UpstreamErrorFields {
  readonly status: number;
  readonly message?: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
}

interface UpstreamErrorOptions {
  /** Absent if there was no answer with an error status. */
  readonly upstream?: UpstreamErrorFields | undefined;
  /** When the upstream says that it can be tried again. */
  readonly retryAfterSecs?: number | undefined;
  /** Whether the same request cannot succeed later. */
  readonly isFinal?: boolean | undefined;
  readonly cause?: unknown;
}

/** An error that an upstream caused. */
export class UpstreamError extends ServiceError {
  readonly upstream: UpstreamErrorFields | undefined;
  readonly retryAfterSecs: number | undefined;
  readonly isFinal: boolean;

  constructor(code: ErrorCode, message: string, options: UpstreamErrorOptions = {}) {
    const { upstream, retryAfterSecs, isFinal = false, cause } = options;
    const details = {
      ...(upstream === undefined ? {} : { upstream }),
      ...(retryAfterSecs === undefined ? {} : { retry_after_secs: retryAfterSecs }),
    };
    super(code, message, {
      ...(cause === undefined ? {} : { cause }),
      ...(Object.keys(details).length === 0 ? {} : { details }),
    });
    this.upstream = upstream;
    this.retryAfterSecs = retryAfterSecs;
    this.isFinal = isFinal;
  }
}
