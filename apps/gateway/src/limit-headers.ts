import type { ServerResponse } from 'node:http';
import { secondsToNextMonth, type AdmissionAnswer } from '@model-gateway/billing';
import type { RequestLimiter } from './request-limiter.ts';

/** Headers that say how much of its limits a caller has left; names and values alternate. */
export type LimitHeaders = readonly string[];

/** The tier limits that headers can tell about; null means unlimited. */
interface TierLimits {
  readonly rpm: number | null;
  readonly monthlyTokenQuota: number | null;
}

const WINDOW_SECS = 60;

/** What is left of the limit per minute, as far as this process has counted the key's requests. */
export function requestHeaders(
  limiter: Pick<RequestLimiter, 'requestsPerMinute' | 'windowOf'>,
  counted: string,
  tierRpm: number | null = null,
): LimitHeaders {
  const limit = Math.min(limiter.requestsPerMinute, tierRpm ?? Infinity);
  const { count, nextFreeMs } = limiter.windowOf(counted);
  return headersOf('requests', limit, limit - count, Math.ceil(nextFreeMs / 1000));
}

/** The limit per minute that refused a request. */
export const reachedHeaders = (limit: number): LimitHeaders =>
  headersOf('requests', limit, 0, WINDOW_SECS);

/** What is left of the monthly tokens of the tier; nothing where there is no limit, or it is not known. */
export function tokenHeaders(
  { monthlyTokenQuota }: TierLimits,
  {
    window,
    reserved,
  }: Pick<Extract<AdmissionAnswer, { outcome: 'passed' }>, 'window' | 'reserved'>,
  now: Date,
): LimitHeaders {
  if (monthlyTokenQuota === null || window === undefined) return [];
  const left = monthlyTokenQuota - window.tokens - reserved.tokens;
  return headersOf('tokens', monthlyTokenQuota, left, secondsToNextMonth(now));
}

/** Adds the headers to a response that has not begun. */
export function setLimitHeaders(response: ServerResponse, headers: LimitHeaders): void {
  if (response.headersSent) return;
  for (let at = 0; at + 1 < headers.length; at += 2) {
    response.setHeader(headers[at] ?? '', headers[at + 1] ?? '');
  }
}

const headersOf = (
  unit: 'requests' | 'tokens',
  limit: number,
  remaining: number,
  resetSecs: number,
): LimitHeaders => [
  `x-ratelimit-limit-${unit}`,
  String(limit),
  `x-ratelimit-remaining-${unit}`,
  String(Math.max(0, remaining)),
  `x-ratelimit-reset-${unit}`,
  `${resetSecs}s`,
];
