import type { ModelEntry } from '@model-gateway/contracts';
import { queryOptions } from '@tanstack/react-query';
import { sortRows } from '../ui/table-order.ts';
import type { Api } from './api.ts';

/** The queries whose answers depend on the backends, the aliases and the routes. */
export const ROUTING_QUERIES = ['/v1/models', 'routes.explain'] as const;

/** The available models, by name. */
export const modelsQuery = (api: Api) =>
  queryOptions({
    queryKey: ['/v1/models'] as const,
    queryFn: async ({ signal }): Promise<readonly ModelEntry[]> => {
      const { data } = await api.rest<{ readonly data: readonly ModelEntry[] }>('/v1/models', {
        signal,
      });
      // Not localeCompare, which takes half a second for ten thousand on a slow machine.
      return sortRows(data, ({ id }) => id.toLowerCase(), false);
    },
  });

/** Whether a chat with the model can be answered: models of the quick start are listed before a backend serves them. */
export const canChat = ({ capabilities, owned_by: owner }: ModelEntry): boolean =>
  capabilities.includes('chat') && owner !== 'huggingface';

/** Whether the model makes vectors of texts. */
export const canEmbed = ({ capabilities, owned_by: owner }: ModelEntry): boolean =>
  capabilities.includes('embeddings') && owner !== 'huggingface';

/** Whether one can talk to the model. */
export const canTalk = ({ capabilities }: ModelEntry): boolean => capabilities.includes('realtime');
