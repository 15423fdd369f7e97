import type { IncomingMessage } from 'node:http';

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
