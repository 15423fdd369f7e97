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
import type { BackendConfig, Router as ModelRouter } from '@model-gateway/router';
import { Router } from 'express';
import type { z } from 'zod';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { readAdminBody } from './admin-request.ts';
import { changeBackend, registerBackend, registrationOf } from './backend-registration.ts';
import { testBackend } from './backend-test.ts';
import { backendView } from './backend-view.ts';

/** `/api/admin/backends/by-name/{name}`: the same backends, without positions that shift. */
export function createNamedBackendsAdmin(
  router: Pick<ModelRouter, 'list' | 'registry' | 'probe' | 'use'>,
): Router {
  const { registry } = router;
  const routes = Router();

  function configOf(name: string): BackendConfig {
    const config = registry.find(name);
    if (config === undefined) throw notFound(name);
    return config;
  }

  routes
    .route('/:name')
    .get(({ params: { name } }, response) => {
      const config = configOf(name);
      const backends = router.list();
      const index = backends.findIndex(({ backend }) => backend.name === name);
      const routed = backends[index];
      if (routed === undefined) throw notFound(name);
      response.json(backendView(routed, index, config) satisfies z.input<typeof backendViewSchema>);
    })
    .put(async (request, response) => {
      const { name } = request.params;
      const given = await readAdminBody(request);
      assertSameName(name, given['name']);
      const body = validated(backendRequestSchema, { ...given, name });
      const registered = await registerBackend(registry, registrationOf(body));
      response.json(registered satisfies z.input<typeof backendRegisteredSchema>);
    })
    .patch(async (request, response) => {
      const { name } = request.params;
      const given = await readAdminBody(request);
      configOf(name);
      assertSameName(name, given['name']);
      const body = validated(backendChangeSchema, given);
      const changed = await changeBackend(registry, name, body);
      if (changed === undefined) throw notFound(name);
      response.json(changed satisfies z.input<typeof backendRegisteredSchema>);
    })
    .delete(async ({ params: { name } }, response) => {
      if (!(await registry.remove(name))) throw notFound(name);
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
      configOf(name);
      const cancel = disconnectSignal(response);
      const result = await testBackend(router, { name, model: model ?? undefined, cancel });
      if (result === undefined) throw notFound(name);
      response.json(result satisfies z.input<typeof backendTestSchema>);
    })
    .all(onlyTheseMethods('POST'));
  return routes;
}

const notFound = (name: string): ServiceError =>
  new ServiceError('not_found', `no backend has the name '${name}'`);

/** A backend keeps its name: usage, conversations and metrics refer to it. */
function assertSameName(name: string, given: unknown): void {
  if (given === undefined || given === null || given === name) return;
  throw new ServiceError('invalid_request', "'name' must be the name in the path");
}
