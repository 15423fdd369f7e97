import {
  storedReaderFor,
  type BodyMemory,
  type StoredReader,
  type StoredSize,
} from '@model-gateway/http';
import { admitFree, type AdmitServices } from '@model-gateway/inference';
import type { HttpCall } from './http-call.ts';
import { setLimitHeaders } from './limit-headers.ts';

/** Serves requests that cost nothing and are limited like those that do: by rates, and by calls at a time. */
export interface FreeRequests {
  handle(call: HttpCall, serve: (reader: StoredReader) => Promise<void>): Promise<void>;
}

interface FreeRequestsDependencies extends AdmitServices {
  readonly bodyMemory: BodyMemory;
  /** How much one request may read of what is stored. */
  readonly limits: StoredSize;
}

export function createFreeRequests(dependencies: FreeRequestsDependencies): FreeRequests {
  const { bodyMemory: memory, limits } = dependencies;
  return {
    async handle(call, serve) {
      const { caller, reservation } = await admitFree(call, dependencies);
      setLimitHeaders(call.response, call.headers);
      try {
        await serve(storedReaderFor(call.response, { userId: caller.userId, memory, limits }));
      } finally {
        reservation.end();
      }
    },
  };
}
