/** A parsed JSON object with unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one for anything else. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The value as a list; an empty one for anything else. */
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value if it is a string. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The value if it is a number. */
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

/** Parses JSON without throwing; undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
