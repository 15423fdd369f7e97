import type { ServerResponse } from 'node:http';
import { ServiceError } from '@model-gateway/contracts';
import { acceptsOnlyJson, sendText } from '@model-gateway/http';
import { reachedHeaders, requestHeaders, setLimitHeaders } from './limit-headers.ts';
import type { RequestLimiter } from './request-limiter.ts';
import { tracedOf } from './traced-request.ts';

const LIMITED_TEXT = 'Rate limit exceeded. Try again later.';

/**
 * Refuses a credential in plain text, as the specification requires. For a client that accepts only JSON it throws, so that
 * the refusal has the form of every other error.
 */
export function refuse(response: ServerResponse, text: string): undefined {
  if (acceptsOnlyJson(response.req)) throw new ServiceError('authentication_required', text);
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
  if (!acceptsOnlyJson(response.req)) {
    sendRefusal(response, 429, LIMITED_TEXT);
    return;
  }
  throw new ServiceError(
    'rate_limit_exceeded',
    `rate limit exceeded: each process accepts ${requestsPerMinute} requests per minute with one key. ` +
      'Try again later. An operator raises the limit with SERVICE_API_RATE_LIMIT_RPM.',
  );
}

function sendRefusal(response: ServerResponse, status: number, text: string): void {
  const traced = tracedOf(response);
  if (traced !== undefined) traced.refusal = text;
  sendText(response, status, text);
}
