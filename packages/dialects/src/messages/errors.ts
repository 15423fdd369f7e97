import type { DialectError } from '../dialect.ts';

const OVERLOADED = 529;
/** Clients that know it send the whole conversation instead. */
const UNSUPPORTED_THREAD = 'thread_unsupported_request';

const TOO_LONG_CODE = 'context_length_exceeded';
/** How OpenAI and vLLM, vLLM for other models, llama.cpp and Gemini say it. */
const TOO_LONG =
  /maximum context length|longer than the maximum model length|exceeds the available context size|input token count.* exceeds the maximum/i;
/** By this beginning, clients of this API know that they must shorten a conversation. */
const TOO_LONG_WORDS = 'prompt is too long: ';

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

/** The type of an error of an upstream that had begun to answer. Clients try again when it is overloaded. */
export function upstreamErrorType(upstreamStatus: number | undefined): string {
  const isOverload = upstreamStatus === 503 || upstreamStatus === OVERLOADED;
  if (isOverload) return 'overloaded_error';
  return upstreamStatus === 429 || upstreamStatus === 504
    ? (TYPES[upstreamStatus] ?? 'api_error')
    : 'api_error';
}

/** The status and the body of an error of this API. */
export function messagesError(error: DialectError) {
  const { code, requestId } = error;
  const message = messageOf(error);
  const details =
    code === UNSUPPORTED_THREAD ? { details: { error_code: code, unsupported: ['thread'] } } : {};
  const status = statusOf(error);
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return {
    status,
    body: { type: 'error', error: { type, message, ...details }, request_id: requestId },
  };
}

function messageOf({ status, code, message }: DialectError): string {
  const isTooLong = status < 500 && (code === TOO_LONG_CODE || TOO_LONG.test(message));
  return isTooLong && !message.startsWith(TOO_LONG_WORDS) ? TOO_LONG_WORDS + message : message;
}

/** This API knows neither 502 nor 503: a service or an upstream that cannot answer now is overloaded. */
function statusOf({ status, upstreamStatus }: DialectError): number {
  if (status === 503) return OVERLOADED;
  if (status !== 502) return status;
  return upstreamStatus === 503 || upstreamStatus === OVERLOADED ? OVERLOADED : 500;
}
