import type { RpcResult } from '@model-gateway/contracts';
import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api/api.ts';

type Usage = RpcResult<'usage.list'>['records'][number];

const ROWS = 20;
const AGAIN_MS = 1000;

/** The usage row of an answer, which is recorded a moment after its end. */
export const usageOfQuery = (api: Api, refId: string) =>
  queryOptions({
    queryKey: ['usage.list', { refId }] as const,
    queryFn: async ({ signal }): Promise<Usage | null> => {
      const { records } = await api.call('usage.list', { limit: ROWS }, { signal });
      return records.find(({ ref_id: id }) => id === refId) ?? null;
    },
    refetchInterval: ({ state }) => (state.data === null ? AGAIN_MS : false),
    placeholderData: null,
  });
