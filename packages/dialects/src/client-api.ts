import type { z } from 'zod';
import type { Dialect } from './dialect.ts';

/** A body with a name in the description, which is that of a type in generated clients. */
export interface NamedSchema<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: Schema;
}

/** The errors of an API, where they have a form of their own. */
export interface OwnErrors extends NamedSchema {
  /** The statuses of failures of the service and of upstreams. */
  readonly failures: readonly (500 | 502 | 503 | 529)[];
}

/** An API that clients speak: the gateway serves it at its path, and describes it. */
export interface ClientApi {
  readonly dialect: Dialect;
  readonly path: string;
  /** The name of the operation in generated clients. */
  readonly id: string;
  readonly summary: string;
  readonly request: NamedSchema;
  /** A request to begin with. */
  readonly example: object;
  readonly response: NamedSchema;
  /** The events of a streamed answer. */
  readonly streams: string;
  readonly errors?: OwnErrors;
}
