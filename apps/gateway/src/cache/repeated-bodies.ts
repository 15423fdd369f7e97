import { LRUCache } from 'lru-cache';
import type { z } from 'zod';
import type { ComparedBody } from './cache-key.ts';

/** A body that was parsed and checked before. */
interface RepeatedBody<Body> {
  readonly body: Body;
  readonly compared: ComparedBody;
}

/**
 * The bodies of requests that got a stored answer, by their exact text: the next request with this text is neither parsed nor
 * checked again. They only serve to find stored answers; a request for which there is none gets a body of its own.
 */
export interface RepeatedBodies {
  find<Schema extends z.ZodType>(
    schema: Schema,
    text: string,
  ): RepeatedBody<z.output<Schema>> | undefined;
  keep<Schema extends z.ZodType>(
    schema: Schema,
    text: string,
    repeated: RepeatedBody<z.output<Schema>>,
  ): void;
}

const TEXT_CHARS_MAX = 32 * 1024;
/** Of all texts together. A parsed body can take several times as much memory as its text. */
const TEXTS_CHARS_MAX = 2 * 1024 * 1024;

export function createRepeatedBodies(): RepeatedBodies {
  const kept = new LRUCache<string, { readonly schema: z.ZodType; readonly repeated: unknown }>({
    maxSize: TEXTS_CHARS_MAX,
    sizeCalculation: (_, { length }) => Math.max(1, length),
  });
  return {
    find(schema, text) {
      if (kept.size === 0 || text.length > TEXT_CHARS_MAX) return undefined;
      const found = kept.get(text);
      // A body that is stored under a schema was made by this schema.
      return found?.schema === schema ? (found.repeated as RepeatedBody<never>) : undefined;
    },
    keep(schema, text, repeated) {
      if (text.length <= TEXT_CHARS_MAX) kept.set(text, { schema, repeated });
    },
  };
}
