/** What can go wrong in an engine. The browser tool has these codes too. */
export type EngineErrorCode =
  | 'BROWSER_CRASHED'
  | 'BROWSER_LAUNCH_FAILED'
  | 'ENGINE_ABI_MISMATCH'
  | 'ENGINE_LIB_NOT_FOUND'
  | 'EVALUATION_FAILED'
  | 'INTERNAL'
  | 'NAVIGATION_FAILED'
  | 'NO_HISTORY'
  | 'NOT_SUPPORTED_BY_ENGINE'
  | 'TIMEOUT';

interface EngineErrorOptions {
  /** The next step for the caller, as a separate sentence. */
  readonly hint?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The code that the engine itself gave, which may be one of the tool. */
  readonly engineCode?: string | undefined;
}

/** A failure of an engine, for the caller of the tool. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;
  readonly engineCode: string | undefined;

  constructor(code: EngineErrorCode, message: string, options: EngineErrorOptions = {}) {
    super(message);
    this.code = code;
    this.hint = options.hint;
    this.details = options.details;
    this.engineCode = options.engineCode;
  }
}

/** For a feature that neither the engine nor a script can provide. */
export function notSupported(backend: string, what: string): EngineError {
  return new EngineError(
    'NOT_SUPPORTED_BY_ENGINE',
    `the ${backend} engine does not support ${what}.`,
    {
      hint: 'Set BROWSER_BACKEND=auto to use a browser that does.',
      details: { backend },
    },
  );
}
