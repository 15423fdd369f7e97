import type { z } from 'zod';

/** The value of a JSON text; undefined for anything else. */
export function tryParseJson(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** A JSON text as the schema reads it; undefined when it is not what it should be. */
export function tryParse<Shape>(schema: z.ZodType<Shape>, text: string): Shape | undefined {
  return schema.safeParse(tryParseJson(text)).data;
}
