import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  storedReaderFor,
  type BodyMemory,
  type StoredReader,
  type StoredSize,
} from '@model-gateway/http';
import { FREE_ADMISSION } from '@model-gateway/inference';
import type { KeyAuthenticator } from './key-authenticator.ts';
import { setLimitHeaders } from './surface/limit-headers.ts';

/** Serves requests that cost nothing and are limited like those that do: by rates, and by calls at a time. */
export interface FreeRequests {
  /** Does not call `serve` when a refusal has been sent. */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    serve: (reader: StoredReader) => Promise<void>,
  ): Promise<void>;
}

interface FreeRequestsDependencies {
  readonly keyAuthenticator: Pick<KeyAuthenticator, 'authenticate' | 'admit'>;
  readonly bodyMemory: BodyMemory;
  /** How much one request may read of what is stored. */
  readonly limits: StoredSize;
}

export function createFreeRequests(dependencies: FreeRequestsDependencies): FreeRequests {
  const { keyAuthenticator, bodyMemory: memory, limits } = dependencies;
  return {
    async handle(request, response, serve) {
      const keyed = await keyAuthenticator.authenticate(request, response);
      if (keyed === undefined) return;
      const admitted = await keyAuthenticator.admit(keyed, response, FREE_ADMISSION);
      if (admitted === undefined) return;
      const { caller, limitHeaders, held } = admitted;
      setLimitHeaders(response, limitHeaders);
      try {
        await serve(storedReaderFor(response, { userId: caller.userId, memory, limits }));
      } finally {
        held?.reservation.end();
      }
    },
  };
}
