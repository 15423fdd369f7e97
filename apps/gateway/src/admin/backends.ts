import { resolveKind } from '@model-gateway/backends';
import {
  backendRemovalSchema,
  backendRequestSchema,
  ServiceError,
  type backendListSchema,
  type backendRegisteredSchema,
  type backendRemovedSchema,
} from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { HealthReport, Router as ModelRouter } from '@model-gateway/router';
import { Router } from 'express';
import type { z } from 'zod';
import { routableModels } from '../routable-models.ts';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { readAdminBody } from './admin-request.ts';

/** `/api/admin/backends`. */
export function createBackendsAdmin(router: Pick<ModelRouter, 'list' | 'registry'>): Router {
  const { registry } = router;
  const routes = Router();
  routes
    .route('/')
    .get((_request, response) => {
      response.json(backendList(router) satisfies z.input<typeof backendListSchema>);
    })
    .post(async (request, response) => {
      const body = validated(backendRequestSchema, await readAdminBody(request));
      const { url } = body;
      const name = body.name ?? body.type;
      const type = resolveKind(body.type);
      const { index, report } = await registry.register({
        name,
        type,
        url,
        apiKey: body.api_key ?? null,
        models: body.models ?? [],
        capabilities: body.capabilities ?? null,
        workflow: body.workflow ?? undefined,
      });
      response.json({
        status: 'ok',
        message: 'backend registered',
        name,
        type,
        url,
        index,
        ...healthView(report),
      } satisfies z.input<typeof backendRegisteredSchema>);
    })
    .delete(async (request, response) => {
      const body = backendRemovalSchema.safeParse(await readAdminBody(request));
      if (!body.success) throw new ServiceError('missing_index', "Missing 'index' field");
      const removed = await registry.removeAt(body.data.index);
      if (removed === undefined) {
        throw new ServiceError('not_found', 'Backend not found at given index');
      }
      response.json({ status: 'ok', message: 'backend removed' } satisfies z.input<
        typeof backendRemovedSchema
      >);
    })
    .all(onlyTheseMethods('GET', 'POST', 'DELETE'));
  return routes;
}

function backendList(router: Pick<ModelRouter, 'list'>): z.input<typeof backendListSchema> {
  const backends = router.list();
  return {
    backends: {
      count: backends.filter(({ state }) => state === 'Healthy').length,
      health: backends.map((routed, index) => ({
        label: `backend_${index}:${routed.backend.kind}`,
        ...healthView(routed),
        name: routed.backend.name,
        type: routed.backend.kind,
        circuit: routed.circuit,
        models: [...routed.models],
      })),
    },
    models: [...routableModels(backends).keys()],
  };
}

const healthView = ({
  state,
  reason,
  checkedAt,
}: Pick<HealthReport, 'state' | 'reason' | 'checkedAt'>) => ({
  state,
  reason: reason ?? null,
  checked_at: checkedAt === undefined ? null : new Date(checkedAt).toISOString(),
});
