interface AppErrorOptions {
  /** Sent to the caller besides the message. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Only logged. */
  readonly cause?: unknown;
}

/**
 * An error with a code that each API translates. The message is for the caller; the cause is only logged.
 * The contracts package declares the closed union of codes.
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
