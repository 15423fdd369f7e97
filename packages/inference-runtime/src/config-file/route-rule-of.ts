import type { RpcParams } from '@model-gateway/contracts';
import { DEFAULT_RETRIES, type RouteRule } from '@model-gateway/router';

const MS_PER_SECOND = 1_000;

/** The route that a call or the configuration file describes. */
export const routeRuleOf = ({
  model,
  targets,
  strategy,
  attempts,
  timeout_secs: timeoutSecs,
  hedge_after_ms: hedgeAfterMs,
  retry_on: retryOn,
  cache,
}: RpcParams<'routes.set'>): RouteRule => ({
  model,
  targets,
  strategy,
  attempts,
  ...(timeoutSecs === undefined ? {} : { timeoutMs: timeoutSecs * MS_PER_SECOND }),
  ...(hedgeAfterMs === undefined ? {} : { hedgeAfterMs }),
  retryOn: retryOn ?? DEFAULT_RETRIES.retryOn,
  ...(cache ? { cacheTtlSecs: cache.ttl_secs } : {}),
});
