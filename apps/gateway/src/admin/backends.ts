import {
  backendRemovalSchema,
  backendRequestSchema,
  ServiceError,
  type backendListSchema,
  type backendRegisteredSchema,
  type backendRemovedSchema,
} from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { BackendAdmin } from '@model-gateway/inference-runtime';
import type { Router as ModelRouter } from '@model-gateway/router';
import { Router } from 'express';
import type { z } from 'zod';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { readAdminBody } from './admin-request.ts';
import { backendList } from './backend-list.ts';
import { createNamedBackendsAdmin } from './named-backends.ts';

/** `/api/admin/backends`. */
export function createBackendsAdmin(
  router: Pick<ModelRouter, 'list' | 'registry'>,
  backends: BackendAdmin,
): Router {
  const routes = Router();
  routes
    .route('/')
    .get((_request, response) => {
      response.json(backendList(router.list()) satisfies z.input<typeof backendListSchema>);
    })
    .post(async (request, response) => {
      const body = validated(backendRequestSchema, await readAdminBody(request));
      const registered = await backends.register(body);
      response.json(registered satisfies z.input<typeof backendRegisteredSchema>);
    })
    .delete(async (request, response) => {
      const body = backendRemovalSchema.safeParse(await readAdminBody(request));
      if (!body.success) throw new ServiceError('missing_index', "Missing 'index' field");
      const removed = await router.registry.removeAt(body.data.index);
      if (removed === undefined) {
        throw new ServiceError('not_found', 'Backend not found at given index');
      }
      response.json({ status: 'ok', message: 'backend removed' } satisfies z.input<
        typeof backendRemovedSchema
      >);
    })
    .all(onlyTheseMethods('GET', 'POST', 'DELETE'));
  routes.use('/by-name', createNamedBackendsAdmin(backends));
  return routes;
}
