import type { CliError } from '../cli-error.ts';

/** `skipped` where it could not be checked. */
export type CheckStatus = 'ok' | 'warning' | 'failed' | 'skipped';

/** The outcome of one check, and what to do next. */
export interface CheckResult {
  readonly name: string;
  readonly status: CheckStatus;
  readonly message: string;
  /** Null where nothing is to be done. */
  readonly next: string | null;
}

export const checked = (
  name: string,
  status: CheckStatus,
  message: string,
  next: string | null = null,
): CheckResult => ({ name, status, message, next });

/** A check that could not be completed. */
export const broken = (name: string, { message, next }: CliError): CheckResult =>
  checked(name, 'failed', message, next ?? null);
