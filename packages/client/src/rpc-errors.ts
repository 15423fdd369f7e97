/** The service answered a call with an error. */
export class RpcCallError extends Error {
  override readonly name = 'RpcCallError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Why no answer came: no connection, none in time, a closed connection, or an answer that is no JSON-RPC. */
export type RpcConnectionProblem = 'network' | 'timeout' | 'closed' | 'bad-answer';

interface ConnectionErrorDetails {
  /** The HTTP status, where there was one. */
  readonly status?: number;
  readonly cause?: unknown;
}

/** No answer of the service arrived, so whether the call was carried out is not known. */
export class RpcConnectionError extends Error {
  override readonly name = 'RpcConnectionError';
  readonly problem: RpcConnectionProblem;
  readonly status: number | undefined;

  constructor(
    problem: RpcConnectionProblem,
    message: string,
    { status, cause }: ConnectionErrorDetails = {},
  ) {
    super(message, { cause });
    this.problem = problem;
    this.status = status;
  }
}
