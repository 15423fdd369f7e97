import type { z } from 'zod';

/** One operation of the HTTP surface. */
export interface Operation {
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** Any one of these credentials is enough; an empty list means that the operation is public. */
  readonly security: readonly ('apiKey' | 'accessToken' | 'adminToken')[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: z.ZodObject;
  readonly request?: z.ZodType;
  /** A request to begin with, where the required fields alone do not make a useful one. */
  readonly example?: unknown;
  /** The type of the request body, if it is not JSON. */
  readonly requestType?: string;
  readonly response: z.ZodType;
  /** The type of the response body, if it is not JSON. */
  readonly responseType?: string;
  /** The response body while the process shuts down. */
  readonly draining?: z.ZodType;
  /** The events of a streamed response, if it can respond with server-sent events. */
  readonly streams?: string;
  /** Sends its errors in the form of the Messages API. */
  readonly hasMessagesErrors?: boolean;
}

/** The headers of every request that reaches a model. */
export const inferenceHeaders = {
  'x-service-ref': 'A reference of at most 64 characters that the usage row is attributed to.',
  'x-service-errors':
    "`upstream`: errors in the form of OpenAI's API, also those of the upstream; `specified`: as specified. Otherwise `SERVICE_ERRORS` decides.",
};

/** The stream of most APIs. */
export const CHUNK_STREAM =
  'One `data:` line per chunk, then `[DONE]`. A stream that is cut off ends with `data: {"error": …}` instead, and its connection breaks.';
