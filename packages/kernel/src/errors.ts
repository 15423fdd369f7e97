import { types } from 'node:util';

interface AppErrorOptions {
  /** What the caller may see besides the message. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** What only we see. */
  readonly cause?: unknown;
}

/**
 * An error with a code that a surface can translate. The message is for the caller; the cause is for us.
 * The closed union of codes is declared by the contracts.
 */
export class AppError<Code extends string = string> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: Code, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }
}

/** Something that keeps a process from starting: one sentence that says what is wrong and what to do. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** The shortest true text of anything that was thrown. */
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

/** Whether it is an error, also one that another realm made, which `instanceof` would miss. */
export function isError(thrown: unknown): thrown is Error {
  return thrown instanceof Error || types.isNativeError(thrown);
}
