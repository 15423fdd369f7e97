import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError, type ErrorCode } from '@model-gateway/contracts';
import { errorFormOf, sendRestError, sendText, type ErrorWriter } from '@model-gateway/http';
import type { Log } from '@model-gateway/kernel';
import { reachedHeaders, requestHeaders, setLimitHeaders } from './limit-headers.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** The refusal of a credential, or by the limit of this process: plain text, as it is specified, except in OpenAI's form. */
export class Refusal extends ServiceError {
  /** What is sent as plain text. */
  readonly text: string;
  readonly status: number;

  constructor(
    code: ErrorCode,
    message: string,
    plain: { readonly status: number; readonly text?: string; readonly retryAfterSecs?: number },
  ) {
    const { status, text = message, retryAfterSecs } = plain;
    super(
      code,
      message,
      retryAfterSecs === undefined ? {} : { details: { retry_after_secs: retryAfterSecs } },
    );
    this.text = text;
    this.status = status;
  }
}

const LIMITED_TEXT = 'Rate limit exceeded. Try again later.';

const MS_PER_SECOND = 1_000;
/** No key is served at all; the operator may change that. */
const OFF_RETRY_SECS = 60;

/** The refusal of a credential. */
export const refusedCredential = (text: string): Refusal =>
  new Refusal('authentication_required', text, { status: 401 });

/** The refusal of a request over the limit of this process; also sets the headers of the limit. */
export function refusedByLimit(
  response: ServerResponse,
  limiter: Pick<RequestLimiter, 'requestsPerMinute' | 'windowOf'>,
  name: string,
): Refusal {
  const { requestsPerMinute } = limiter;
  const isOff = requestsPerMinute === 0;
  setLimitHeaders(response, isOff ? reachedHeaders(0) : requestHeaders(limiter, name));
  return new Refusal(
    'rate_limit_exceeded',
    `rate limit exceeded: each process accepts ${requestsPerMinute} requests per minute with one key. ` +
      'Try again later. An operator raises the limit with SERVICE_API_RATE_LIMIT_RPM.',
    {
      status: 429,
      text: LIMITED_TEXT,
      retryAfterSecs: isOff ? OFF_RETRY_SECS : secondsUntilFree(limiter, name),
    },
  );
}

const secondsUntilFree = (limiter: Pick<RequestLimiter, 'windowOf'>, name: string): number =>
  Math.max(Math.ceil(limiter.windowOf(name).nextFreeMs / MS_PER_SECOND), 1);

/** Whether an error is sent as plain text. */
export const isPlain = (error: unknown, response: ServerResponse): error is Refusal =>
  error instanceof Refusal && errorFormOf(response) === 'specified';

/** Responds to a thrown error; returns what was sent. */
export function sendError(
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
  writeError?: ErrorWriter,
): string | Uint8Array {
  if (!isPlain(error, response)) return sendRestError(error, request, response, log, writeError);
  sendText(response, error.status, error.text);
  return error.text;
}
