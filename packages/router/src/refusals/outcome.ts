import { BACKEND_HELP } from '@model-gateway/contracts';
import { UpstreamFailure } from '../registry/upstream-failure.ts';

/** A rate limit of the upstream, which is about one model. */
interface RateLimited {
  readonly kind: 'rate_limited';
  readonly forMs: number;
}

/** The upstream refused the key of the backend, as far as its status says. */
interface KeyRefused {
  readonly kind: 'key_refused';
  readonly reason: string;
  readonly forMs: number;
  /** Whether it may be about this request only, such as its model or its prompt: then other requests are not affected. */
  readonly isSuspicion: boolean;
}

/** What an upstream answers to a key, and not to a request. */
export type Refused = RateLimited | KeyRefused;

/** The answer of an upstream that found the request wrong. */
const REQUEST_REFUSED = 'request_refused';
/** The answer of an upstream that does not have the model. */
const MODEL_MISSING = 'model_missing';
/** The answer of an upstream that failed with the request, such as a 5xx: the request may be the cause. */
const SERVER_ERROR = 'server_error';

/** The outcome of a request for its backend; `left` when this process ended it before the backend did. */
export type RouteOutcome =
  | 'success'
  | 'failure'
  | 'neutral'
  | 'left'
  | typeof REQUEST_REFUSED
  | typeof MODEL_MISSING
  | typeof SERVER_ERROR
  | Refused;

const MS_PER_SECOND = 1_000;
const COOLING_SECS_DEFAULT = 5;
const COOLING_SECS_MAX = 60;
const UNAUTHORIZED = 401;
const NOT_IMPLEMENTED = 501;
const KEY_REFUSED_MS = 10 * 60 * 1000;
/** A 403 can be about one model or one prompt, so it is reported for a shorter time. */
const FORBIDDEN_MS = 60 * 1000;

/** The outcome of a request that failed with this. */
export function outcomeOf(failure: unknown): RouteOutcome {
  if (!(failure instanceof UpstreamFailure)) return 'neutral';
  if (failure.isRateLimit) return { kind: 'rate_limited', forMs: coolingMs(failure) };
  if (failure.code === 'upstream_auth') return keyRefused(failure);
  const { isBackendAtFault, wasAnswered, status } = failure;
  if (failure.isModelMissing) return MODEL_MISSING;
  if (!isBackendAtFault) return wasAnswered ? REQUEST_REFUSED : 'neutral';
  // The backend does not have the operation, which says nothing about its others.
  if (status === NOT_IMPLEMENTED) return 'neutral';
  return wasAnswered ? SERVER_ERROR : 'failure';
}

function coolingMs({ retryAfterSecs = COOLING_SECS_DEFAULT }: UpstreamFailure): number {
  return Math.min(retryAfterSecs, COOLING_SECS_MAX) * MS_PER_SECOND;
}

/** Whether it may be the request that was refused, and not the key. */
export const isForbidden = (outcome: Refused): boolean =>
  outcome.kind === 'key_refused' && outcome.isSuspicion;

/** Without the message of the upstream, which may quote a prompt. */
function keyRefused({ status, upstream }: UpstreamFailure): KeyRefused {
  const code = upstream?.code === undefined ? '' : ` (${upstream.code})`;
  return {
    kind: 'key_refused',
    reason: `the upstream answered ${status}${code} to a request; ${BACKEND_HELP.key_refused.remedy}`,
    forMs: status === UNAUTHORIZED ? KEY_REFUSED_MS : FORBIDDEN_MS,
    isSuspicion: status !== UNAUTHORIZED,
  };
}
