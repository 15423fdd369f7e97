import type { z } from 'zod';

/** A field that may be missing or null; both are read as undefined. */
export function ifPresent<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}
