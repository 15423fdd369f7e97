import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  clipped,
  ERROR_HELP,
  ServiceError,
  UpstreamError,
  type ErrorCode,
  type RestErrorBody,
  type UpstreamErrorFields,
} from '@model-gateway/contracts';
import { isError, type Log } from '@model-gateway/kernel';
import { breakOff } from './break-off.ts';
import { beginResponse, statusHeaders } from './begin-response.ts';
import { errorAnchor } from './error-anchor.ts';
import { errorDocs } from './error-docs.ts';
import { errorFormOf } from './error-form.ts';
import { namedField } from './named-field.ts';
import { noRoute } from './no-route.ts';
import { INVALID_REQUEST, openAiError, REST_ERRORS, type RestError } from './rest-error-table.ts';
import { requestIdOf } from '../requests/request-id.ts';
import { pathOf } from '../server/server-app.ts';

/** So that an error response stays below 16 KiB. */
const MESSAGE_BYTES_MAX = 15 * 1024;
/** A character takes at most six bytes of JSON. */
const MESSAGE_CHARS_MIN = MESSAGE_BYTES_MAX / 6;
/** The rest is for the message of the error, which has at most 4 KiB before its characters are escaped. */
const UPSTREAM_BYTES_MAX = 6 * 1024;

/** What a client learns of an error that is logged and not sent. */
const INTERNAL = new ServiceError('internal_error', 'internal error');

/** A mistake of the client, whatever its status is. */
const UNSUPPORTED: ErrorCode = 'unsupported_operation';

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';

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

/** Responds to a thrown error; returns what was sent. The text of an error that is no ServiceError is logged and not sent. */
export function sendRestError(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
  writeError?: ErrorWriter,
): string | Uint8Array {
  const known = error instanceof ServiceError ? error : tooDeep(error);
  const name = known?.code ?? 'internal_error';
  const isOpenAi = errorFormOf(response) === 'openai';
  const own = isOpenAi && writeError === undefined ? openAiError(name) : REST_ERRORS[name];
  const passed = isOpenAi && known instanceof UpstreamError ? passedError(known) : undefined;
  const status = passed?.status ?? own.status;
  if (name === UNSUPPORTED) {
    const request_id = requestIdOf(request, response);
    const reason = known?.message;
    log.info({ request_id, path: pathOf(request), reason }, 'a model cannot do what was asked');
  } else if (known !== undefined && status >= 500 && response.destroyed) {
    const request_id = requestIdOf(request, response);
    const reason = known.message;
    log.info({ request_id, path: pathOf(request), reason }, 'a client left before its answer');
  } else if (known === undefined || status >= 500) {
    const request_id = requestIdOf(request, response);
    const remedy = known === undefined ? undefined : ERROR_HELP[known.code].remedy;
    log.error({ error, request_id, path: pathOf(request), remedy }, 'a request failed');
  } else if (passed !== undefined) {
    const request_id = requestIdOf(request, response);
    const upstream_status = passed.status;
    log.info(
      { request_id, path: pathOf(request), upstream_status },
      'an upstream refused a request',
    );
  }
  if (response.headersSent) {
    return breakOff(response, known ?? INTERNAL);
  }
  setRetryHeaders(response, own, known);
  const body = passed?.body ?? ownBody(own, known, errorDocs(response, errorAnchor(name)));
  if (writeError === undefined) return sendJson(response, status, body);
  const { type, code, message, param } = body.error;
  const upstreamStatus = known instanceof UpstreamError ? known.upstream?.status : undefined;
  const requestId = requestIdOf(request, response);
  const written = writeError({ status, type, code, message, param, upstreamStatus, requestId });
  return sendJson(response, written.status, written.body);
}

/** Tells clients whether and when to try again; official clients would otherwise decide by the status alone. */
function setRetryHeaders(
  response: ServerResponse,
  own: RestError,
  known: ServiceError | undefined,
): void {
  const isFinal = own.isFinal === true || (known instanceof UpstreamError && known.isFinal);
  if (isFinal) response.setHeader('x-should-retry', 'false');
  const retryAfter = retryAfterOf(own, known);
  if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
}

/** When to try again, in seconds, where that is known. */
function retryAfterOf(own: RestError, known: ServiceError | undefined): string | undefined {
  const seconds = known?.details?.['retry_after_secs'] ?? own.retryAfterSecs;
  return typeof seconds === 'number' ? String(seconds) : undefined;
}

function ownBody(
  { type, code }: RestError,
  known: ServiceError | undefined,
  doc: string | undefined,
): RestErrorBody {
  const message = boundedMessage((known ?? INTERNAL).message);
  const upstream = known instanceof UpstreamError ? known.upstream : undefined;
  const isInvalid = known !== undefined && REST_ERRORS[known.code].type === INVALID_REQUEST;
  const param = isInvalid ? namedField(known) : null;
  const error = { message, type, code, param, ...(doc === undefined ? {} : { doc }) };
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
  const own: RestError = REST_ERRORS[error.code];
  const { status, type, code } = own;
  const { message } = error;
  const text = JSON.stringify({
    error: { message, type, code, param: null },
  } satisfies RestErrorBody);
  const headers = ['connection', 'close', ...contentHeaders(JSON_TYPE, text)];
  headers.push(...statusHeaders(status));
  const retryAfter = retryAfterOf(own, error);
  if (retryAfter !== undefined) headers.push('retry-after', retryAfter);
  const lines = headers.flatMap((name, at) =>
    at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : [],
  );
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

/** Responds 404 to a path that the app does not have. */
export function sendNotFound(request: IncomingMessage, response: ServerResponse, log: Log): void {
  sendRestError(noRoute(request.method, pathOf(request)), request, response, log);
}

/** Sends a JSON body; returns its text. */
export function sendJson(response: ServerResponse, status: number, body: unknown): string {
  const text = JSON.stringify(body);
  sendJsonText(response, status, text);
  return text;
}

/** Sends JSON text, with optional further headers (names and values alternate). */
export function sendJsonText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: readonly string[] = [],
): void {
  beginResponse(response, status, headers.concat(jsonHeaders(text)));
  response.end(text);
}

/** The headers of a JSON body: a text, or bytes in parts. */
export function jsonHeaders(content: string | readonly Buffer[]): readonly string[] {
  if (typeof content === 'string') return contentHeaders(JSON_TYPE, content);
  const bytes = content.reduce((sum, { length }) => sum + length, 0);
  return ['content-type', JSON_TYPE, 'content-length', String(bytes)];
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
