/** The API keys of the world in which mistakes are made. */
export type KeyName =
  | 'good'
  | 'none'
  | 'wrong'
  | 'revoked'
  | 'expired'
  | 'other models'
  | 'other addresses'
  | 'one a minute'
  | 'no budget'
  | 'no quota'
  | 'access token'
  | 'admin token';

/** Who answers a request for the model that is named. */
export type ModelName =
  | 'mock'
  /** Its backend refuses connections. */
  | 'gone'
  /** Its backend does not accept the key that it is sent. */
  | 'unpaid'
  /** Its backend answers 500. */
  | 'broken@status:500'
  /** No backend has it. */
  | 'gpt-9';

interface Outcome {
  readonly mistake: string;
  /** The status of the answer, or that of the command. */
  readonly status: number;
  /** What the message says: what is wrong, and what to do. */
  readonly says: readonly RegExp[];
}

/** A request as curl sends it. */
export interface CurlMistake extends Outcome {
  readonly by: 'curl';
  readonly method?: 'GET' | 'POST';
  readonly path?: string;
  readonly key?: KeyName;
  /** In place of `Authorization: Bearer <key>`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is; fields replace those of a chat that is right. */
  readonly body?: string | object;
  /** How often it is sent; the last answer counts. */
  readonly times?: number;
}

/** A call of an official client, which tries again by itself where it hopes for more. */
export interface ClientMistake extends Outcome {
  readonly by: 'openai' | 'anthropic';
  /** What the base URL ends with; by default what is right. */
  readonly base?: string;
  readonly key?: KeyName;
  readonly model?: ModelName;
  /** Only where waiting can help, so that the client may well try again. */
  readonly maxRetries?: 0;
}

/** A command of the command line. */
export interface CommandMistake extends Outcome {
  readonly by: 'gateway';
  readonly command: readonly string[];
  /** Who is signed in: the admin, another account, or nobody. */
  readonly as?: 'admin' | 'member' | 'nobody';
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export type Mistake = CurlMistake | ClientMistake | CommandMistake;
