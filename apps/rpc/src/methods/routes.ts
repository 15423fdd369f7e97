import { ServiceError, type RpcResult } from '@model-gateway/contracts';
import { DEFAULT_RETRIES, type RouteRule } from '@model-gateway/router';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

const MS_PER_SECOND = 1_000;

type RoutesServices = Pick<Services, 'runtime' | 'routeChanges' | 'explainRoute'>;

export function createRoutesMethods({
  runtime,
  routeChanges,
  explainRoute,
}: RoutesServices): HandlersOf<'routes'> {
  const { routes } = runtime.router;
  return {
    'routes.explain': ({ key_id: keyId, ...request }) => explainRoute({ ...request, keyId }),
    'routes.list': async () => routes.list().map(routeRecord),
    'routes.set': async ({ model, targets, attempts, timeout_secs, retry_on }) => {
      await routeChanges.set({
        model,
        targets,
        attempts,
        ...(timeout_secs === undefined ? {} : { timeoutMs: timeout_secs * MS_PER_SECOND }),
        retryOn: retry_on ?? DEFAULT_RETRIES.retryOn,
      });
      return { ok: true };
    },
    'routes.remove': async ({ model }) => {
      if (await routeChanges.remove(model)) return { ok: true };
      throw new ServiceError('not_found', `model '${model}' has no route`);
    },
  };
}

const routeRecord = (rule: RouteRule): RpcResult<'routes.list'>[number] => ({
  model: rule.model,
  targets: rule.targets.map(({ model, backend = null, priority, weight }) => ({
    model,
    backend,
    priority,
    weight,
  })),
  attempts: rule.attempts,
  timeout_secs: rule.timeoutMs === undefined ? null : rule.timeoutMs / MS_PER_SECOND,
  retry_on: [...rule.retryOn],
});
