import {
  backendChangeSchema,
  backendRequestSchema,
  backendTestRequestSchema,
  ServiceError,
  type backendRegisteredSchema,
  type backendRemovedSchema,
  type backendTestSchema,
  type backendViewSchema,
} from '@model-gateway/contracts';
import { disconnectSignal, validated } from '@model-gateway/http';
import type { BackendAdmin } from '@model-gateway/inference-runtime';
import { Router } from 'express';
import type { z } from 'zod';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { readAdminBody, requireAdminBody } from './admin-request.ts';

/** `/api/admin/backends/by-name/{name}`: the same backends, without positions that shift. */
export function createNamedBackendsAdmin(backends: BackendAdmin): Router {
  const routes = Router();
  routes
    .route('/:name')
    .get(({ params: { name } }, response) => {
      response.json(backends.get(name) satisfies z.input<typeof backendViewSchema>);
    })
    .put(async (request, response) => {
      const { name } = request.params;
      const given = await requireAdminBody(request);
      assertSameName(name, given['name']);
      const body = validated(backendRequestSchema, { ...given, name });
      const registered = await backends.register(body);
      response.json(registered satisfies z.input<typeof backendRegisteredSchema>);
    })
    .patch(async (request, response) => {
      const { name } = request.params;
      const given = await requireAdminBody(request);
      backends.get(name);
      assertSameName(name, given['name']);
      const changed = await backends.change(name, validated(backendChangeSchema, given));
      response.json(changed satisfies z.input<typeof backendRegisteredSchema>);
    })
    .delete(async ({ params: { name } }, response) => {
      await backends.remove(name);
      response.json({ status: 'ok', message: 'backend removed' } satisfies z.input<
        typeof backendRemovedSchema
      >);
    })
    .all(onlyTheseMethods('GET', 'PUT', 'PATCH', 'DELETE'));
  routes
    .route('/:name/test')
    .post(async (request, response) => {
      const { name } = request.params;
      const { model } = validated(backendTestRequestSchema, await readAdminBody(request));
      const cancel = disconnectSignal(response);
      const result = await backends.test(name, { model: model ?? undefined, cancel });
      response.json(result satisfies z.input<typeof backendTestSchema>);
    })
    .all(onlyTheseMethods('POST'));
  return routes;
}

/** A backend keeps its name: usage, conversations and metrics refer to it. */
function assertSameName(name: string, given: unknown): void {
  if (given === undefined || given === null || given === name) return;
  throw new ServiceError('invalid_request', "'name' must be the name in the path");
}
