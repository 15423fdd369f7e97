import type { ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import { errorFormOf, sendText } from '@model-gateway/http';
import { reachedHeaders, requestHeaders, setLimitHeaders } from './limit-headers.ts';
import type { RequestLimiter } from './request-limiter.ts';
import { tracedOf } from '../traced-request.ts';

const LIMITED_TEXT = 'Rate limit exceeded. Try again later.';

const MS_PER_SECOND = 1_000;
/** No key is served at all; the operator may change that. */
const OFF_RETRY_SECS = 60;

/** Refuses a credential, in plain text as it is specified. In OpenAI's form it throws, as for every other error. */
export function refuse(response: ServerResponse, text: string): undefined {
  if (errorFormOf(response) === 'openai') throw new ServiceError('authentication_required', text);
  sendRefusal(response, 401, text);
}

/** Refuses a request over the limit of this process, likewise. */
export function refuseLimit(
  response: ServerResponse,
  limiter: Pick<RequestLimiter, 'requestsPerMinute' | 'windowOf'>,
  name: string,
): undefined {
  const { requestsPerMinute } = limiter;
  const isOff = requestsPerMinute === 0;
  setLimitHeaders(response, isOff ? reachedHeaders(0) : requestHeaders(limiter, name));
  if (errorFormOf(response) === 'specified') {
    sendRefusal(response, 429, LIMITED_TEXT);
    return;
  }
  throw new ServiceError(
    'rate_limit_exceeded',
    `rate limit exceeded: each process accepts ${requestsPerMinute} requests per minute with one key. ` +
      'Try again later. An operator raises the limit with SERVICE_API_RATE_LIMIT_RPM.',
    { details: { retry_after_secs: isOff ? OFF_RETRY_SECS : secondsUntilFree(limiter, name) } },
  );
}

const secondsUntilFree = (limiter: Pick<RequestLimiter, 'windowOf'>, name: string): number =>
  Math.max(Math.ceil(limiter.windowOf(name).nextFreeMs / MS_PER_SECOND), 1);

function sendRefusal(response: ServerResponse, status: number, text: string): void {
  const traced = tracedOf(response);
  if (traced !== undefined) traced.refusal = text;
  sendText(response, status, text);
}
