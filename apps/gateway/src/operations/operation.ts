import type { NamedSchema, OwnErrors } from '@model-gateway/dialects';
import type { z } from 'zod';

export type { NamedSchema } from '@model-gateway/dialects';

export const named = <Schema extends z.ZodType>(
  name: string,
  schema: Schema,
): NamedSchema<Schema> => ({ name, schema });

interface Declaration {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  readonly summary: string;
  /** Any one of these credentials is enough; an empty list means that the operation is public. */
  readonly security: readonly ('apiKey' | 'accessToken' | 'adminToken')[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: z.ZodObject;
  readonly request?: NamedSchema;
  /** Whether a request without a body is one with `{}`. */
  readonly isBodyOptional?: true;
  /** A request to begin with, where the required fields alone do not make a useful one. */
  readonly example?: unknown;
  /** The type of the request body, if it is not JSON. */
  readonly requestType?: string;
  /** A text or a file needs no name. */
  readonly response: NamedSchema | z.ZodType;
  /** The type of the response body, if it is not JSON. */
  readonly responseType?: string;
  /** The response body while the process shuts down. */
  readonly draining?: NamedSchema;
  /** The events of a streamed response, if it can respond with server-sent events. */
  readonly streams?: string;
  /** Its errors, unless they have the form of most. */
  readonly errors?: OwnErrors;
}

/** One operation of the HTTP surface: the routes that serve it and its description read the same object. */
export interface Operation extends Declaration {
  /** The name of the operation in generated clients. */
  readonly id: string;
}

/** Declares operations by their ids. */
export const operations = <const Table extends Readonly<Record<string, Declaration>>>(
  table: Table,
): { readonly [Id in keyof Table]: Table[Id] & Operation } =>
  Object.fromEntries(
    Object.entries(table).map(([id, declaration]) => [id, { ...declaration, id }]),
  ) as { [Id in keyof Table]: Table[Id] & Operation };

/** The headers of every request that reaches a model. */
export const inferenceHeaders = {
  'x-service-ref': 'A reference of at most 64 characters that the usage row is attributed to.',
  'x-service-errors':
    "`upstream`: errors in the form of OpenAI's API, also those of the upstream; `specified`: as specified. Otherwise `SERVICE_ERRORS` decides.",
};
