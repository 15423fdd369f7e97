/** The service responded to a call with an error. */
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

/** Why no response arrived: no connection, a timeout, a closed connection, or a response that is not JSON-RPC. */
export type RpcConnectionProblem = 'network' | 'timeout' | 'closed' | 'bad-answer';

interface ConnectionErrorDetails {
  /** The HTTP status, where there was one. */
  readonly status?: number;
  readonly cause?: unknown;
}

/** No response of the service arrived, so it is unknown whether the call was executed. */
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
