import type { z } from 'zod';

/** Deeper values would overflow the stack of whatever handles them next, such as `JSON.stringify`. */
const DEPTH_MAX = 1_000;

/** The value of a JSON text; undefined for anything else, and for values that are nested too deeply to be handled. */
export function tryParseJson(text: unknown): unknown {
  if (typeof text !== 'string') return undefined;
  const value = parsed(text);
  return canBeDeep(text) && hasMoreLevels(value, DEPTH_MAX) ? undefined : value;
}

/** Whether a JSON text has more levels than any message needs. */
export const isNestedTooDeeply = (text: string): boolean =>
  canBeDeep(text) && hasMoreLevels(parsed(text), DEPTH_MAX);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Each level takes two characters. */
const canBeDeep = (text: string): boolean => text.length > 2 * DEPTH_MAX;

/** Looks at values and not at the text: a long text usually has few of them. */
function hasMoreLevels(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const parts: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return parts.some((part) => hasMoreLevels(part, levels - 1));
}

/** A JSON text as the schema reads it; undefined when it is not what it should be. */
export function tryParse<Shape>(schema: z.ZodType<Shape>, text: string): Shape | undefined {
  return schema.safeParse(tryParseJson(text)).data;
}
