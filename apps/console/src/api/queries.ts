import { RpcCallError, RpcConnectionError } from '@model-gateway/client';
import { keepPreviousData, QueryCache, QueryClient } from '@tanstack/react-query';
import { HttpError } from './session.ts';
import { noteFailures } from './use-query.ts';

const RETRIES_MAX = 2;
const FRESH_MS = 5000;
/** How often a query is asked again that failed for a reason of the service. */
const RECOVERY_MS = 5000;
const INTERNAL_ERROR = -32_603;

/** The cache of everything that was asked for. */
export function createQueries(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache(noteFailures),
    defaultOptions: {
      queries: {
        // A service on this machine is reachable without a network.
        networkMode: 'always',
        staleTime: FRESH_MS,
        // The old content stays until the new is there.
        placeholderData: keepPreviousData,
        // What the service refused it refuses again.
        retry: (count, error) => isPassing(error) && count < RETRIES_MAX,
        // A page recovers by itself when a store or the service is back.
        refetchInterval: ({ state: { status, error } }) =>
          status === 'error' && isPassing(error) ? RECOVERY_MS : false,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return error.status >= 500;
  if (error instanceof RpcCallError) return error.code === INTERNAL_ERROR;
  return error instanceof RpcConnectionError || error instanceof TypeError;
}
