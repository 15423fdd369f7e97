import { ServiceError } from '@model-gateway/contracts';
import { validated } from '@model-gateway/http';
import type { ServiceRouter } from '@model-gateway/service';
import { administration } from '../operations/administration.ts';
import type { ServeOperation } from '../operations/serve-operation.ts';
import { readAdminBody } from './admin-request.ts';

/** `/api/admin/aliases`. */
export function serveAliases(
  serve: ServeOperation,
  { aliases, fileEntries }: Pick<ServiceRouter, 'aliases' | 'fileEntries'>,
): void {
  const { listAliases, addAlias, removeAlias } = administration;
  serve(listAliases, () => ({
    aliases: aliases.list().map(({ alias, target }) => ({
      alias,
      target,
      ...fileEntries.markOf('aliases', alias),
    })),
  }));
  serve(addAlias, async (request) => {
    const body = await readAdminBody(request);
    requireText(body['alias'], 'missing_alias', 'alias');
    requireText(body['target'], 'missing_target', 'target');
    const { alias, target } = validated(addAlias.request.schema, body);
    await fileEntries.assertChangeable('aliases', alias);
    await aliases.set(alias, target);
    return { status: 'ok', message: 'alias added' };
  });
  serve(removeAlias, async (request) => {
    const body = await readAdminBody(request);
    requireText(body['alias'], 'missing_alias', 'alias');
    const { alias } = validated(removeAlias.request.schema, body);
    await fileEntries.assertChangeable('aliases', alias);
    await aliases.remove(alias);
    return { status: 'ok', message: 'alias removed' };
  });
}

function requireText(value: unknown, code: 'missing_alias' | 'missing_target', field: string) {
  if (typeof value === 'string' && value.trim() !== '') return;
  throw new ServiceError(code, `Missing '${field}' field`);
}
