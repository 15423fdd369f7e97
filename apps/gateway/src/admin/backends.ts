import {
  backendRemovalSchema,
  backendRequestSchema,
  ServiceError,
  type backendListSchema,
  type backendRegisteredSchema,
  type backendRemovedSchema,
} from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { BackendAdmin, ServiceRouter } from '@model-gateway/inference-runtime';
import { Router } from 'express';
import type { z } from 'zod';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { readAdminBody, requireAdminBody } from './admin-request.ts';
import { backendList } from './backend-list.ts';
import { createNamedBackendsAdmin } from './named-backends.ts';

/** `/api/admin/backends`. */
export function createBackendsAdmin(
  router: Pick<ServiceRouter, 'list' | 'fileEntries'>,
  backends: BackendAdmin,
): Router {
  const routes = Router();
  routes
    .route('/')
    .get((_request, response) => {
      response.json(backendList(router) satisfies z.input<typeof backendListSchema>);
    })
    .post(async (request, response) => {
      const body = validated(backendRequestSchema, await requireAdminBody(request));
      const registered = await backends.register(body);
      response.json(registered satisfies z.input<typeof backendRegisteredSchema>);
    })
    .delete(async (request, response) => {
      const body = backendRemovalSchema.safeParse(await readAdminBody(request));
      if (!body.success) throw new ServiceError('missing_index', "Missing 'index' field");
      if (!(await backends.removeAt(body.data.index))) {
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
