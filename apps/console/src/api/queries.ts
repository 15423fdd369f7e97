import { RpcConnectionError } from '@model-gateway/client';
import { keepPreviousData, QueryClient } from '@tanstack/react-query';
import { HttpError } from './session.ts';

const RETRIES_MAX = 2;
const FRESH_MS = 5000;

/** The cache of everything that was asked for. */
export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // The old content stays until the new is there.
        placeholderData: keepPreviousData,
        // What the service refused it refuses again.
        retry: (count, error) => isPassing(error) && count < RETRIES_MAX,
      },
      mutations: { retry: false },
    },
  });
}

function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return error.status >= 500;
  return error instanceof RpcConnectionError || error instanceof TypeError;
}
