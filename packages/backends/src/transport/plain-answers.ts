/** Without it, an upstream may compress its answers. */
export const PLAIN_ANSWERS = { 'accept-encoding': 'identity' } as const;

/** The headers of every request with a JSON body. */
export const JSON_HEADERS = { 'content-type': 'application/json', ...PLAIN_ANSWERS } as const;

const ENCODING_CHARS_MAX = 32;

/** What is wrong with a success that is compressed nevertheless; of a refusal its status still counts. */
export function compressedError(
  status: number,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Error | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || status >= 300) return undefined;
  const name = String(encoding).trim().toLowerCase().slice(0, ENCODING_CHARS_MAX);
  if (name === '' || name === 'identity') return undefined;
  return new Error(`the upstream compressed its answer (${name}) without being asked to`);
}
