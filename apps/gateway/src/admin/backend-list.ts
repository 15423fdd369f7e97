import type { backendListSchema } from '@model-gateway/contracts';
import { backendEntry } from '@model-gateway/inference-runtime';
import type { RoutedBackend } from '@model-gateway/router';
import type { z } from 'zod';
import { routableModels } from '../routable-models.ts';

/** The response that lists the backends. */
export const backendList = (
  backends: readonly RoutedBackend[],
): z.input<typeof backendListSchema> => ({
  backends: {
    count: backends.filter(({ state }) => state === 'Healthy').length,
    health: backends.map(backendEntry),
  },
  models: [...routableModels(backends).keys()],
});
