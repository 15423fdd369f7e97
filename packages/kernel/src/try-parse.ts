import type { z } from 'zod';

/** Deeper values would overflow the stack of whatever handles them next, such as `JSON.stringify`. */
const DEPTH_MAX = 1_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The value of a JSON text; undefined for anything else, and for values that are nested too deeply to be handled. */
export function tryParseJson(text: unknown): unknown {
  if (typeof text !== 'string' || isNestedTooDeeply(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON text has more levels than any message needs. */
export function isNestedTooDeeply(text: string): boolean {
  // Each level takes two characters.
  if (text.length < 2 * DEPTH_MAX) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at + 1);
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > DEPTH_MAX) return true;
  }
  return false;
}

/** Where the string that begins here ends: at its closing quote. */
function endOfString(text: string, from: number): number {
  const quote = text.indexOf('"', from);
  if (quote === -1) return text.length;
  if (quote === from || text.charCodeAt(quote - 1) !== BACKSLASH) return quote;
  // One look at each character: a search for quotes is slower where a long text has many of them.
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

/** A JSON text as the schema reads it; undefined when it is not what it should be. */
export function tryParse<Shape>(schema: z.ZodType<Shape>, text: string): Shape | undefined {
  return schema.safeParse(tryParseJson(text)).data;
}
