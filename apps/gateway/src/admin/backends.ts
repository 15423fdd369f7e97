import { resolveKind } from '@model-gateway/backends';
import { backendRequestSchema, type backendRegisteredSchema } from '@model-gateway/contracts';
import { readJson, validated } from '@model-gateway/http';
import { Router } from 'express';
import type { z } from 'zod';
import type { BackendRegistry } from '../backend-registry.ts';

const BODY_BYTES_MAX = 1024 * 1024;

/** `/api/admin/backends`. */
export function createBackendsAdmin(registry: BackendRegistry): Router {
  const routes = Router();
  routes.post('/', async (request, response) => {
    const body = validated(backendRequestSchema, await readJson(request, BODY_BYTES_MAX));
    const name = body.name ?? body.type;
    const type = resolveKind(body.type);
    const { index } = await registry.register({
      name,
      type,
      url: body.url,
      apiKey: body.api_key ?? null,
      models: body.models,
      capabilities: null,
    });
    response.json({
      status: 'ok',
      message: 'backend registered',
      name,
      type,
      url: body.url,
      index,
    } satisfies z.input<typeof backendRegisteredSchema>);
  });
  return routes;
}
