import type { ServerResponse } from 'node:http';
import {
  secondsToNextMonth,
  type CountedRequests,
  type KeyCounts,
  type RequestLimit,
  type ReservedAmounts,
  type WindowUsage,
} from '@model-gateway/billing';
import type { CountedCall } from '@model-gateway/inference';
import type { RequestLimiter } from './request-limiter.ts';

/** Headers that say how much of its limits a caller has left; names and values alternate. */
export type LimitHeaders = readonly string[];

/** The tier limits that headers can tell about; null means unlimited. */
interface TokenQuota {
  readonly monthlyTokenQuota: number | null;
}

/** Limits over all processes, and what each has counted, in the same order. */
interface SharedLimits {
  readonly limits: readonly RequestLimit[];
  readonly counted: readonly CountedRequests[];
}

/** The usage of the month, and what requests in flight reserve of it; a refused request does not know that. */
interface MonthUsage {
  readonly window: Pick<WindowUsage, 'tokens'> | undefined;
  readonly reserved?: Pick<ReservedAmounts, 'tokens'>;
}

const WINDOW_SECS = 60;
const NOT_SHARED: SharedLimits = { limits: [], counted: [] };

/** What is left of the limits of a key, for a request that passed them or was refused by one. */
export function countedHeaders(
  limiter: Pick<RequestLimiter, 'requestsPerMinute' | 'windowOf'>,
  { grant: { caller, payer }, limits, answer }: CountedCall,
  now: Date,
): LimitHeaders {
  const requests =
    answer.outcome === 'limited'
      ? reachedHeaders(answer.limit.requestsPerMinute)
      : requestHeaders(limiter, caller.keyId ?? '', { limits, counted: answer.counted });
  const tpm = payer.key?.tokensPerMinute ?? null;
  if (answer.outcome === 'tokens_limited')
    return [...requests, ...minuteTokenHeaders(tpm ?? 0, { ...answer, tokens: tpm ?? 0 })];
  if (answer.outcome === 'admitted' && tpm !== null && answer.key !== undefined)
    return [...requests, ...minuteTokenHeaders(tpm, answer.key)];
  if (payer.tier.monthlyTokenQuota === null) return requests;
  return requests.concat(tokenHeaders(payer.tier, answer, now));
}

/** The limit per minute that leaves the fewest requests: that of this process, or one over all processes. */
export function requestHeaders(
  limiter: Pick<RequestLimiter, 'requestsPerMinute' | 'windowOf'>,
  name: string,
  { limits, counted }: SharedLimits = NOT_SHARED,
): LimitHeaders {
  let limit = limiter.requestsPerMinute;
  let tightest: CountedRequests = limiter.windowOf(name);
  for (const [index, { requestsPerMinute }] of limits.entries()) {
    const shared = counted[index];
    if (shared === undefined || requestsPerMinute - shared.count > limit - tightest.count) continue;
    limit = requestsPerMinute;
    tightest = shared;
  }
  const { count, nextFreeMs } = tightest;
  return headersOf('requests', limit, limit - count, Math.ceil(nextFreeMs / 1000));
}

/** The limit per minute that refused a request. */
export const reachedHeaders = (limit: number): LimitHeaders =>
  headersOf('requests', limit, 0, WINDOW_SECS);

/** What is left of the monthly tokens of the tier; nothing where there is no limit, or it is not known. */
function tokenHeaders(
  { monthlyTokenQuota }: TokenQuota,
  { window, reserved }: MonthUsage,
  now: Date,
): LimitHeaders {
  if (monthlyTokenQuota === null || window === undefined) return [];
  const left = monthlyTokenQuota - window.tokens - (reserved?.tokens ?? 0);
  return headersOf('tokens', monthlyTokenQuota, left, secondsToNextMonth(now));
}

/** What is left of the tokens per minute of a key. */
const minuteTokenHeaders = (
  limit: number,
  { tokens, nextFreeMs }: Pick<KeyCounts, 'tokens' | 'nextFreeMs'>,
): LimitHeaders => headersOf('tokens', limit, limit - tokens, Math.ceil(nextFreeMs / 1000));

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
