import type { BackendAdmin } from '@model-gateway/backends';
import { ServiceError } from '@model-gateway/contracts';
import { disconnectSignal, validated } from '@model-gateway/http';
import type { ServiceRouter } from '@model-gateway/service';
import { administration } from '../operations/administration.ts';
import type { ServeOperation } from '../operations/serve-operation.ts';
import { readAdminBody, requireAdminBody } from './admin-request.ts';
import { backendList } from './backend-list.ts';

/** `/api/admin/backends`, by position and by name: positions shift, names do not. */
export function serveBackends(
  serve: ServeOperation,
  router: Pick<ServiceRouter, 'list' | 'fileEntries'>,
  backends: BackendAdmin,
): void {
  const { registerBackend, putBackend, changeBackend, testBackend } = administration;
  serve(administration.listBackends, () => backendList(router));
  serve(registerBackend, async (request) =>
    backends.register(validated(registerBackend.request.schema, await requireAdminBody(request))),
  );
  serve(administration.removeBackendByIndex, async (request) => {
    const { schema } = administration.removeBackendByIndex.request;
    const body = schema.safeParse(await readAdminBody(request));
    if (!body.success) throw new ServiceError('missing_index', "Missing 'index' field");
    if (!(await backends.removeAt(body.data.index)))
      throw new ServiceError('not_found', 'Backend not found at given index');
    return { status: 'ok', message: 'backend removed' };
  });

  serve(administration.getBackend, ({ params: { name } }) => backends.get(name));
  serve(putBackend, async (request) => {
    const { name } = request.params;
    const given = await requireAdminBody(request);
    assertSameName(name, given['name']);
    return backends.register(validated(putBackend.request.schema, { ...given, name }));
  });
  serve(changeBackend, async (request) => {
    const { name } = request.params;
    const given = await requireAdminBody(request);
    backends.get(name);
    assertSameName(name, given['name']);
    return backends.change(name, validated(changeBackend.request.schema, given));
  });
  serve(administration.removeBackend, async ({ params: { name } }) => {
    await backends.remove(name);
    return { status: 'ok', message: 'backend removed' };
  });
  serve(testBackend, async (request, response) => {
    const { model } = validated(testBackend.request.schema, await readAdminBody(request));
    const { signal: cancel } = disconnectSignal(response);
    return backends.test(request.params.name, { model: model ?? undefined, cancel });
  });
}

/** A backend keeps its name: usage, conversations and metrics refer to it. */
function assertSameName(name: string, given: unknown): void {
  if (given === undefined || given === null || given === name) return;
  throw new ServiceError('invalid_request', "'name' must be the name in the path");
}
