import type { IncomingMessage } from 'node:http';

const NAMES_MAX = 50;
const NAME_CHARS_MAX = 64;
const NOT_PRINTABLE = /[^\x20-\x7e]/g;

/** The header that names what was left out. Names come from clients, so they are bounded and made safe for a header. */
export function ignoredHeader(ignored: readonly string[]): readonly string[] {
  if (ignored.length === 0) return [];
  const named = ignored.slice(0, NAMES_MAX).map(safeName);
  const others = ignored.length - named.length;
  return ['x-service-ignored', [...named, ...(others > 0 ? [`${others} more`] : [])].join(', ')];
}

const safeName = (name: string): string =>
  name.slice(0, NAME_CHARS_MAX).replaceAll(NOT_PRINTABLE, '?');

/** The flags of a header that lists some; they are left out like fields, and named. */
export function ignoredFlags(
  name: string | undefined,
  { headers }: IncomingMessage,
): readonly string[] {
  const given = name === undefined ? undefined : headers[name];
  if (given === undefined) return [];
  return String(given)
    .split(',')
    .flatMap((flag) => (flag.trim() === '' ? [] : [`${name}.${flag.trim()}`]));
}
