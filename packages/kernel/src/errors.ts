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
  if (thrown instanceof AggregateError && thrown.message === '') {
    return thrown.errors.map(describeError).join('; ');
  }
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message;
  return String(thrown);
}
