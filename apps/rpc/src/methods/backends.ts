import { backendState, createBackendAdmin, kindViews } from '@model-gateway/backends';
import type { backendRegisteredSchema } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import type { z } from 'zod';
import type { AuditedCall } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import { pageAfter } from '../protocol/page-after.ts';
import type { Services } from '../services.ts';

type BackendCall = AuditedCall<'backends.add' | 'backends.update' | 'backends.remove'>;

const audit = {
  target: ({ params }: BackendCall) => `backend:${params.name}`,
  async state({ params }: BackendCall, { backendConfigs }: DatabaseStores) {
    const config = (await backendConfigs.list()).find(({ name }) => name === params.name);
    return config && backendState(config);
  },
};

/** The registry has its own transaction, because it works while the database is unavailable. */
export function createBackendsMethods({
  runtime,
}: Pick<Services, 'runtime'>): HandlersOf<'backends'> {
  const backends = createBackendAdmin(runtime.router);
  return {
    'backends.list': async (page) => [...pageAfter(backends.list(), ({ name }) => name, page)],
    'backends.get': async ({ name }) => backends.get(name),
    'backends.kinds': async () => kindViews(),
    'backends.add': {
      audit,
      entry: 'after',
      handle: async (body) => registered(await backends.add(body)),
    },
    'backends.update': {
      audit,
      entry: 'after',
      handle: async ({ name, ...body }) => registered(await backends.change(name, body)),
    },
    'backends.remove': {
      audit,
      entry: 'after',
      handle: async ({ name }) => {
        await backends.remove(name);
        return { ok: true };
      },
    },
    'backends.test': {
      audit: { none: 'it sends a test request and changes nothing' },
      handle: async ({ name, backend, model }) => {
        // A call has no signal that ends it; the test has a time limit.
        const options = { model: model ?? undefined, cancel: new AbortController().signal };
        return backend === undefined
          ? backends.test(name, options)
          : backends.testNew({ ...backend, name }, options);
      },
    },
  };
}

/** The registration without the fields that only say that it succeeded. */
function registered({
  status: _status,
  message: _message,
  ...facts
}: z.output<typeof backendRegisteredSchema>) {
  return facts;
}
