import type { backendListSchema } from '@model-gateway/contracts';
import { backendEntry } from '@model-gateway/backends';
import type { ServiceRouter } from '@model-gateway/service';
import type { z } from 'zod';
import { routableModels } from '../routable-models.ts';

/** The response that lists the backends. */
export function backendList({
  list,
  fileEntries,
}: Pick<ServiceRouter, 'list' | 'fileEntries'>): z.input<typeof backendListSchema> {
  const backends = list();
  return {
    backends: {
      count: backends.filter(({ state }) => state === 'Healthy').length,
      health: backends.map((backend, index) => backendEntry(backend, index, fileEntries)),
    },
    models: [...routableModels(backends).keys()],
  };
}
