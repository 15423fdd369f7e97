import type { IncomingMessage } from 'node:http';

const JSON_RANGES: readonly string[] = ['application/json', 'application/*'];
const TEXT_RANGES: readonly string[] = ['text/plain', 'text/*', '*/*'];

/** Whether a request admits JSON and no plain text. */
export function acceptsOnlyJson(request: Pick<IncomingMessage, 'headers'>): boolean {
  const { accept } = request.headers;
  if (accept === undefined) return false;
  const ranges = accept.split(',').map(readRange);
  const admits = (wanted: readonly string[]): boolean =>
    ranges.some((range) => range !== undefined && wanted.includes(range));
  return admits(JSON_RANGES) && !admits(TEXT_RANGES);
}

/** The media range of an entry; undefined for one that the client excludes with `q=0`. */
function readRange(entry: string): string | undefined {
  const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
  const isExcluded = parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter));
  return isExcluded ? undefined : range;
}
