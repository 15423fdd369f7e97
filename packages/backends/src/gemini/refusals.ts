import type { UpstreamFailure } from '@model-gateway/router';
import { upstreamRefused } from '../errors/upstream-error.ts';

const BAD_REQUEST = 400;
const UNAUTHORIZED = 401;
const KEY_REFUSED = /"reason":\s*"API_KEY_INVALID"/;
const RETRY_DELAY = /"retryDelay":\s*"(\d{1,9}(?:\.\d{1,9})?)s"/;

/** The status that an answer would have elsewhere: a key that is unknown or has expired is a 400 here. */
export const statusOf = (status: number, body: string): number =>
  status === BAD_REQUEST && KEY_REFUSED.test(body) ? UNAUTHORIZED : status;

/** The failure of a refused request. When it can be tried again is in the body and not in a header. */
export const geminiRefused = (
  status: number,
  body: string,
  secret: string | null,
  retryAfter?: string,
): UpstreamFailure =>
  upstreamRefused(statusOf(status, body), body, secret, retryAfter ?? RETRY_DELAY.exec(body)?.[1]);
