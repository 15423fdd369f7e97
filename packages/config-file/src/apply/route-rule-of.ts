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
  targets: targets.map(({ backend, ...target }) => ({
    ...target,
    ...(typeof backend === 'string' ? { backend } : {}),
  })),
  strategy,
  attempts,
  ...(typeof timeoutSecs !== 'number' ? {} : { timeoutMs: timeoutSecs * MS_PER_SECOND }),
  ...(typeof hedgeAfterMs !== 'number' ? {} : { hedgeAfterMs }),
  retryOn: retryOn ?? DEFAULT_RETRIES.retryOn,
  ...(cache ? { cacheTtlSecs: cache.ttl_secs } : {}),
});
