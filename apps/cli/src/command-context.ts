import type { CliConfig } from './config.ts';
import type { CredentialFile } from './credentials/credential-file.ts';
import type { Service } from './service/service.ts';
import type { Terminal } from './terminal.ts';

/** What a command works with. */
export interface CommandContext {
  readonly config: CliConfig;
  readonly terminal: Terminal;
  readonly isJson: boolean;
  /** Aborts when the user interrupts the command. */
  readonly signal: AbortSignal;
  readonly file: CredentialFile;
  readonly service: Service;
  /** Whether the address was given, with `--url` or in the environment. */
  readonly isUrlGiven: boolean;
  /** The service at another address. */
  at(url: string): Service;
}

/** What a command prints on standard output: `json` with `--json`, `text` otherwise. */
export interface Answer {
  readonly json: object;
  readonly text: string;
  /** A remark for people, on standard error. */
  readonly note?: string;
  readonly exitStatus?: number;
}

/** A command without its parsing: gets the arguments and options, returns what to print. */
export type Handler<Args extends readonly unknown[]> = (
  context: CommandContext,
  ...args: Args
) => Promise<Answer | undefined>;

/** Makes the action of a command from its handler. */
export type Runner = <Args extends readonly unknown[]>(
  handler: Handler<Args>,
) => (...args: unknown[]) => Promise<void>;
