import { types } from 'node:util';

/** An error that prevents the start of a process; its one sentence says what is wrong and what to do. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** A short text for anything that was thrown. */
export function describeError(thrown: unknown): string {
  if (!isError(thrown)) return String(thrown);
  if (thrown.message !== '') return thrown.message;
  const several: unknown = 'errors' in thrown ? thrown.errors : undefined;
  return Array.isArray(several) && several.length > 0
    ? several.map((error: unknown) => describeError(error)).join('; ')
    : thrown.name;
}

/** The `code` that Node and many libraries put on their errors, such as `ECONNREFUSED`. */
export function errorCode(thrown: unknown): string | undefined {
  const code: unknown = isError(thrown) && 'code' in thrown ? thrown.code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** Whether a value is an error, also one from another realm, which `instanceof` would miss. */
export function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}
