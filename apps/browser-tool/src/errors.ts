/** The HTTP status of each code. A new code only needs to be added here. */
export const HTTP_STATUS = {
  INVALID_JSON: 400,
  INVALID_ARGUMENT: 400,
  INVALID_SELECTOR: 400,
  INVALID_KEY: 400,
  INVALID_URL: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN_HOST: 403,
  FORBIDDEN_ORIGIN: 403,
  URL_BLOCKED: 403,
  NOT_FOUND: 404,
  ELEMENT_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  STALE_REF: 409,
  AMBIGUOUS_TARGET: 409,
  ELEMENT_NOT_VISIBLE: 409,
  ELEMENT_DISABLED: 409,
  ELEMENT_NOT_EDITABLE: 409,
  ELEMENT_COVERED: 409,
  NO_HISTORY: 409,
  PAYLOAD_TOO_LARGE: 413,
  RESULT_TOO_LARGE: 413,
  EVALUATION_FAILED: 422,
  LIMIT_REACHED: 429,
  INTERNAL: 500,
  NOT_SUPPORTED_BY_ENGINE: 501,
  UNSUPPORTED_PLATFORM: 501,
  NAVIGATION_FAILED: 502,
  DOWNLOAD_FAILED: 502,
  CHECKSUM_MISMATCH: 502,
  BROWSER_NOT_FOUND: 503,
  BROWSER_LAUNCH_FAILED: 503,
  BROWSER_CRASHED: 503,
  FETCH_DISABLED: 503,
  ENGINE_LIB_NOT_FOUND: 503,
  ENGINE_ABI_MISMATCH: 503,
  INVALID_BACKEND: 503,
  TIMEOUT: 504,
} as const satisfies Record<string, number>;

/** All error codes of the tool. */
export type ToolErrorCode = keyof typeof HTTP_STATUS;

interface ToolErrorOptions {
  /** The next step for the caller, as a separate sentence. */
  readonly hint?: string;
  /** Structured data for programs. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Only for the log. */
  readonly cause?: unknown;
}

/** An error for callers: what happened, and what to do next. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  readonly code: ToolErrorCode;
  readonly hint: string | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  /** Compares by name, because the MCP bundle contains its own copy of this class. */
  static override [Symbol.hasInstance](thrown: unknown): boolean {
    return (
      typeof thrown === 'object' &&
      thrown !== null &&
      'name' in thrown &&
      thrown.name === 'ToolError'
    );
  }

  constructor(code: ToolErrorCode, message: string, options: ToolErrorOptions = {}) {
    super(oneLine(message), options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint === undefined ? undefined : oneLine(options.hint);
    this.details = options.details;
  }

  /** The complete text for callers: what happened, then the next step. */
  get sentence(): string {
    return this.hint === undefined ? this.message : `${this.message} ${this.hint}`;
  }
}

/** An error as both interfaces send it. */
export function errorAnswer({ sentence, code, hint, details }: ToolError) {
  return {
    error: sentence,
    code,
    ...(hint === undefined ? {} : { hint }),
    ...(details === undefined ? {} : { details }),
  };
}

// Messages quote pages, which may contain any characters, even terminal colors.
// oxlint-disable-next-line no-control-regex -- It removes control characters.
const CONTROL = /\u001B\[[0-9;]*[A-Za-z]|[\u0000-\u001F\u007F]+/g;

const TEXT_CHARS_MAX = 2_000;

function oneLine(text: string): string {
  const shown = text.replace(CONTROL, ' ').trim();
  return shown.length <= TEXT_CHARS_MAX ? shown : `${shown.slice(0, TEXT_CHARS_MAX)}…`;
}
