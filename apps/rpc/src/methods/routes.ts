import { routeRuleOf } from '@model-gateway/config-file';
import { ServiceError, type RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import type { ServiceRouter } from '@model-gateway/service';
import type { RouteRule } from '@model-gateway/router';
import type { AuditedCall } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import { pageAfter } from '../protocol/page-after.ts';
import type { Services } from '../services.ts';

const MS_PER_SECOND = 1_000;

type RoutesServices = Pick<Services, 'runtime' | 'routeChanges'>;

type RouteCall = AuditedCall<'routes.set' | 'routes.remove'>;

const audit = {
  target: ({ params }: RouteCall) => `route:${params.model}`,
  state: async ({ params }: RouteCall, { routeRules }: DatabaseStores) =>
    (await routeRules.list()).find(({ model }) => model === params.model),
};

export function createRoutesMethods({
  runtime,
  routeChanges,
}: RoutesServices): HandlersOf<'routes'> {
  const { routes, fileEntries } = runtime.router;
  return {
    'routes.explain': ({ key_id: keyId, ...request }) =>
      runtime.explainRoute({ ...request, keyId }),
    'routes.list': async (page) =>
      pageAfter(routes.list(), ({ model }) => model, page).map((rule) =>
        routeRecord(rule, fileEntries),
      ),
    'routes.set': {
      audit,
      handle: async (params) => {
        await fileEntries.assertChangeable('routes', params.model);
        await routeChanges.set(routeRuleOf(params));
        return { ok: true };
      },
    },
    'routes.remove': {
      audit,
      handle: async ({ model }) => {
        await fileEntries.assertChangeable('routes', model);
        if (await routeChanges.remove(model)) return { ok: true };
        throw new ServiceError('not_found', `model '${model}' has no route`);
      },
    },
  };
}

const routeRecord = (
  rule: RouteRule,
  fileEntries: ServiceRouter['fileEntries'],
): RpcResult<'routes.list'>[number] => ({
  model: rule.model,
  targets: rule.targets.map(({ model, backend = null, priority, weight }) => ({
    model,
    backend,
    priority,
    weight,
  })),
  strategy: rule.strategy ?? 'weighted',
  attempts: rule.attempts,
  timeout_secs: rule.timeoutMs === undefined ? null : rule.timeoutMs / MS_PER_SECOND,
  hedge_after_ms: rule.hedgeAfterMs ?? null,
  retry_on: [...rule.retryOn],
  cache: rule.cacheTtlSecs === undefined ? null : { ttl_secs: rule.cacheTtlSecs },
  ...fileEntries.markOf('routes', rule.model),
});
