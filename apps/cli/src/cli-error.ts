/** What went wrong, as scripts see it with `--json`. */
export type CliErrorCode =
  | 'failed'
  | 'usage'
  | 'not_signed_in'
  | 'admin_token_required'
  | 'admin_required'
  | 'unreachable'
  | 'not_found'
  | 'ambiguous'
  | 'limit_reached'
  | 'interrupted';

/** The exit status of every outcome; `docs/command-line.md` lists them. */
export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

const EXIT_STATUSES = {
  failed: EXIT_FAILED,
  usage: EXIT_USAGE,
  not_signed_in: 3,
  admin_token_required: 3,
  admin_required: 3,
  unreachable: 4,
  not_found: 5,
  ambiguous: EXIT_USAGE,
  limit_reached: 6,
  interrupted: 130,
} satisfies Record<CliErrorCode, number>;

/** A failure that the user can understand: what is wrong, and what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly next: string | undefined;

  constructor(code: CliErrorCode, message: string, next?: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.next = next;
  }

  get exitStatus(): number {
    return EXIT_STATUSES[this.code];
  }
}
