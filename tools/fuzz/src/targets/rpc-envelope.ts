/** The problems of a response of the management plane, a single one or those to a batch. */
export function checkEnvelopes(text: string): readonly string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return [`not JSON: ${text.slice(0, 300)}`];
  }
  const envelopes: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (envelopes.length === 0) return ['an empty array of envelopes'];
  return envelopes.flatMap(checkEnvelope);
}

const ERROR_CHARS_MAX = 16 * 1024;

function checkEnvelope(value: unknown): readonly string[] {
  const shown = (): string => JSON.stringify(value).slice(0, 500);
  if (typeof value !== 'object' || value === null) return [`no envelope: ${shown()}`];
  const { jsonrpc, error } = value as Record<string, unknown>;
  if (jsonrpc !== '2.0' || !('id' in value)) return [`no envelope: ${shown()}`];
  if ('result' in value === 'error' in value) return [`neither result nor error: ${shown()}`];
  if (!('error' in value)) return [];
  const code: unknown =
    typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  if (!Number.isInteger(code)) return [`an error without a code: ${shown()}`];
  if (code === -32_603) return [`an internal error: ${shown()}`];
  if (JSON.stringify(error).length > ERROR_CHARS_MAX) return [`a large error: ${shown()}`];
  return [];
}
