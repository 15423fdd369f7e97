import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  clipped,
  ERROR_HELP,
  ServiceError,
  STORE_RETRY_SECS,
  UpstreamError,
  type ErrorCode,
  type RestErrorBody,
  type UpstreamErrorFields,
} from '@model-gateway/contracts';
import { isError, type Log } from '@model-gateway/kernel';
import { beginResponse } from './begin-response.ts';
import { errorDocs } from './error-docs.ts';
import { requestIdOf } from '../requests/request-id.ts';
import { pathOf } from '../server/server-app.ts';

/** So that an error response stays below 16 KiB. */
const MESSAGE_BYTES_MAX = 15 * 1024;
/** A character takes at most six bytes of JSON. */
const MESSAGE_CHARS_MIN = MESSAGE_BYTES_MAX / 6;
/** The rest is for the message of the error, which has at most 4 KiB before its characters are escaped. */
const UPSTREAM_BYTES_MAX = 6 * 1024;

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

interface RestError {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  /** A retry cannot succeed; official clients would otherwise retry by themselves. */
  readonly isFinal?: boolean;
  /** When to try again, where the error itself does not say it. */
  readonly retryAfterSecs?: number;
}

const invalid = (code: string, status = 400): RestError => ({
  status,
  type: 'invalid_request',
  code,
});
const server = (code: string, status = 500): RestError => ({ status, type: 'server_error', code });
const auth = (code: string, status: number): RestError => ({ status, type: 'auth_error', code });

/** Status, type and code of every error on the HTTP surfaces. */
export const REST_ERRORS = {
  invalid_json: invalid('invalid_json'),
  invalid_request: invalid('invalid_request'),
  missing_fields: invalid('missing_fields'),
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
  previous_response_not_found: invalid('previous_response_not_found'),
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
  identity_provider_unavailable: server('identity_provider_unavailable', 503),
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
  payment_required: {
    status: 402,
    type: 'insufficient_credits',
    code: 'payment_required',
    isFinal: true,
  },
  budget_exceeded: { status: 402, type: 'budget_error', code: 'budget_exceeded', isFinal: true },
  budget_reserved: { status: 402, type: 'budget_error', code: 'budget_exceeded' },
  unknown_type: invalid('unknown_type'),
  bad_url: invalid('bad_url'),
  model_not_found: { status: 404, type: 'invalid_request_error', code: 'model_not_found' },
  all_backends_unhealthy: server('internal_error'),
  unsupported_operation: { ...server('backend_error'), isFinal: true },
  bad_gateway: server('bad_gateway', 502),
  upstream_auth: server('upstream_auth', 502),
  bridge_unreachable: server('bridge_unreachable', 502),
  agent_unavailable: server('agent_unavailable', 503),
  no_job: { status: 404, type: 'not_found', code: 'no_job' },
  no_video_backend: { status: 503, type: 'video_backend_error', code: 'no_backend' },
  job_ended: invalid('job_ended', 409),
  store_unavailable: { ...server('store_unavailable', 503), retryAfterSecs: STORE_RETRY_SECS },
  overloaded: server('overloaded', 503),
  internal_error: server('internal_error'),
} satisfies Record<ErrorCode, RestError>;

/** What is known about an error. */
export interface ErrorFacts {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  /** The field that an upstream named. */
  readonly param?: string | null | undefined;
  /** What the upstream answered, if its error is behind this one. */
  readonly upstreamStatus?: number | undefined;
  readonly requestId: string;
}

/** The status and the body of an error in another API. */
export type ErrorWriter = (facts: ErrorFacts) => { readonly status: number; readonly body: object };

interface RestErrorOptions {
  readonly writeError?: ErrorWriter | undefined;
  /** Whether the status and the fields of an upstream's error are passed on; the request can ask for that too. */
  readonly passesUpstreamErrors?: boolean;
}

/** Responds to a thrown error. The text of an error that is no ServiceError is logged and not sent. */
export function sendRestError(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
  { passesUpstreamErrors = false, writeError }: RestErrorOptions = {},
): void {
  const known = error instanceof ServiceError ? error : tooDeep(error);
  const own: RestError = REST_ERRORS[known?.code ?? 'internal_error'];
  const isPassed = passesUpstreamErrors || request.headers['x-service-errors'] === 'upstream';
  const passed = isPassed && known instanceof UpstreamError ? passedError(known) : undefined;
  const status = passed?.status ?? own.status;
  if (known === undefined || status >= 500) {
    const request_id = requestIdOf(request, response);
    const remedy = known === undefined ? undefined : ERROR_HELP[known.code].remedy;
    log.error({ error, request_id, path: pathOf(request), remedy }, 'a request failed');
  }
  if (!response.headersSent) setRetryHeaders(response, own, known);
  const body = passed?.body ?? ownBody(own, known, errorDocs(response, own.code));
  if (writeError === undefined) {
    sendJson(response, status, body);
    return;
  }
  const { type, code, message, param } = body.error;
  const upstreamStatus = known instanceof UpstreamError ? known.upstream?.status : undefined;
  const requestId = requestIdOf(request, response);
  const written = writeError({ status, type, code, message, param, upstreamStatus, requestId });
  sendJson(response, written.status, written.body);
}

/** Tells clients whether and when to try again; official clients would otherwise decide by the status alone. */
function setRetryHeaders(
  response: ServerResponse,
  own: RestError,
  known: ServiceError | undefined,
): void {
  const isFinal = own.isFinal === true || (known instanceof UpstreamError && known.isFinal);
  if (isFinal) response.setHeader('x-should-retry', 'false');
  const retryAfter = known?.details?.['retry_after_secs'] ?? own.retryAfterSecs;
  if (typeof retryAfter === 'number') response.setHeader('retry-after', String(retryAfter));
}

function ownBody(
  { type, code }: RestError,
  known: ServiceError | undefined,
  doc: string | undefined,
): RestErrorBody {
  const message = boundedMessage(known?.message ?? 'internal error');
  const upstream = known instanceof UpstreamError ? known.upstream : undefined;
  const error = { message, type, code, param: null, ...(doc === undefined ? {} : { doc }) };
  return { error: upstream === undefined ? error : { ...error, upstream: bounded(upstream) } };
}

/** The message is that of the error as well, so it is left out where both would be too long. */
function bounded(upstream: UpstreamErrorFields): UpstreamErrorFields {
  const { message: _message, ...rest } = upstream;
  return Buffer.byteLength(JSON.stringify(upstream)) <= UPSTREAM_BYTES_MAX ? upstream : rest;
}

/** The statuses of an upstream that are about the request, and not about the backend. */
const PASSED_STATUSES: readonly number[] = [400, 404, 408, 409, 413, 415, 422, 429];

/** The error of an upstream as its own; undefined if it is not for users. */
function passedError({ upstream }: UpstreamError) {
  if (upstream === undefined || !PASSED_STATUSES.includes(upstream.status)) return undefined;
  const { status, type = 'upstream_error', code = null, param = null } = upstream;
  const message = boundedMessage(upstream.message ?? STATUS_CODES[status] ?? 'upstream error');
  return { status, body: { error: { message, type, code, param } } satisfies RestErrorBody };
}

/** A message can quote what the client or an upstream sent. */
function boundedMessage(message: string): string {
  if (message.length <= MESSAGE_CHARS_MIN) return message;
  const bytes = Buffer.byteLength(JSON.stringify(message));
  return bytes <= MESSAGE_BYTES_MAX ? message : clipped(message, MESSAGE_CHARS_MIN);
}

/** A body nested so deeply that the stack overflowed is a client mistake. */
function tooDeep(error: unknown): ServiceError | undefined {
  const isOverflow =
    isError(error) && error.name === 'RangeError' && error.message.includes('call stack');
  return isOverflow
    ? new ServiceError('invalid_request', 'the request is nested too deeply')
    : undefined;
}

/** Refuses a WebSocket before it is one. */
export function refuseUpgrade(socket: Duplex, error: ServiceError): void {
  const { status, type, code } = REST_ERRORS[error.code];
  const { message } = error;
  const text = JSON.stringify({
    error: { message, type, code, param: null },
  } satisfies RestErrorBody);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: ${JSON_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

/** Responds 404 to a path that the app does not have. */
export function sendNotFound(request: IncomingMessage, response: ServerResponse, log: Log): void {
  const error = new ServiceError('not_found', `no route ${request.method} ${pathOf(request)}`);
  sendRestError(error, request, response, log);
}

/** Sends a JSON body. If a response has already begun, it cuts the connection, so that the response cannot look complete. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  sendJsonText(response, status, JSON.stringify(body));
}

/** Sends JSON text, with optional further headers (names and values alternate). */
export function sendJsonText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: readonly string[] = [],
): void {
  beginResponse(response, status, [...headers, ...contentHeaders(JSON_TYPE, text)]);
  response.end(text);
}

/** Sends JSON that was encoded in parts. */
export function sendJsonParts(
  response: ServerResponse,
  status: number,
  parts: readonly Buffer[],
): void {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  beginResponse(response, status, ['content-type', JSON_TYPE, 'content-length', String(bytes)]);
  for (const part of parts) response.write(part);
  response.end();
}

/** Sends plain text. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  beginResponse(response, status, contentHeaders(TEXT_TYPE, text));
  response.end(text);
}

const contentHeaders = (type: string, text: string): readonly string[] => [
  'content-type',
  type,
  'content-length',
  String(Buffer.byteLength(text)),
];
