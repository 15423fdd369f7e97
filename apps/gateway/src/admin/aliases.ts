import {
  aliasRemovalSchema,
  aliasRequestSchema,
  ServiceError,
  type aliasChangedSchema,
  type aliasListSchema,
} from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { ServiceRouter } from '@model-gateway/inference-runtime';
import { Router } from 'express';
import type { z } from 'zod';
import { onlyTheseMethods } from '../only-these-methods.ts';
import { readAdminBody } from './admin-request.ts';

/** `/api/admin/aliases`. */
export function createAliasesAdmin({
  aliases,
  fileEntries,
}: Pick<ServiceRouter, 'aliases' | 'fileEntries'>): Router {
  const routes = Router();
  routes
    .route('/')
    .get((_request, response) => {
      const list = aliases.list().map(({ alias, target }) => ({
        alias,
        target,
        ...fileEntries.markOf('aliases', alias),
      }));
      response.json({ aliases: list } satisfies z.input<typeof aliasListSchema>);
    })
    .post(async (request, response) => {
      const body = await readAdminBody(request);
      requireText(body['alias'], 'missing_alias', 'alias');
      requireText(body['target'], 'missing_target', 'target');
      const { alias, target } = validated(aliasRequestSchema, body);
      await fileEntries.assertChangeable('aliases', alias);
      await aliases.set(alias, target);
      response.json({ status: 'ok', message: 'alias added' } satisfies Changed);
    })
    .delete(async (request, response) => {
      const body = await readAdminBody(request);
      requireText(body['alias'], 'missing_alias', 'alias');
      const { alias } = validated(aliasRemovalSchema, body);
      await fileEntries.assertChangeable('aliases', alias);
      await aliases.remove(alias);
      response.json({ status: 'ok', message: 'alias removed' } satisfies Changed);
    })
    .all(onlyTheseMethods('GET', 'POST', 'DELETE'));
  return routes;
}

type Changed = z.input<typeof aliasChangedSchema>;

function requireText(value: unknown, code: 'missing_alias' | 'missing_target', field: string) {
  if (typeof value === 'string' && value.trim() !== '') return;
  throw new ServiceError(code, `Missing '${field}' field`);
}
