import type { RpcResult } from '@model-gateway/contracts';
import { queryOptions } from '@tanstack/react-query';
import type { Api } from '../../api/api.ts';
import { sharedCall } from '../../api/shared-call.ts';

type LoggedRequest = RpcResult<'requests.list'>['requests'][number];

const ROWS = 50;
const AGAIN_MS = 1000;
const TRIES_MAX = 30;

/** The turns of a chat that is shown again ask at the same time. */
const share = sharedCall();

/** A turn in the request log, where it is a moment after its end; null until then. */
export const requestOfQuery = (api: Api, refId = '') =>
  queryOptions({
    queryKey: ['requests.list', { refId }] as const,
    queryFn: async (): Promise<LoggedRequest | null> => {
      const { requests } = await share('newest', () =>
        api.call('requests.list', { scope: 'self', limit: ROWS }),
      );
      return requests.find(({ ref_id: id }) => id === refId) ?? null;
    },
    // What is found stays as it is.
    staleTime: ({ state }) => (state.data ? Infinity : 0),
    refetchInterval: ({ state }) =>
      state.data === null && state.dataUpdateCount < TRIES_MAX ? AGAIN_MS : false,
    enabled: refId !== '',
    placeholderData: null,
  });
