import type { RpcRequest, RpcResponse } from './envelope.ts';

/** Sends requests to the service. */
export interface Transport {
  /** Sends one request and resolves with its response. */
  send(request: RpcRequest, options: SendOptions): Promise<RpcResponse>;
  /** Sends many requests as one batch and resolves with their responses, in the same order. */
  sendBatch(requests: readonly RpcRequest[], options: SendOptions): Promise<readonly RpcResponse[]>;
  /** Ends requests in progress. */
  close(): void;
}

export interface SendOptions {
  /** Aborts the request; the reason is thrown. */
  readonly signal: AbortSignal;
  /** A session that gets a copy of the response; only HTTP supports it. */
  readonly sessionId: string | undefined;
}

/** Returns the current token, if there is one. */
export type TokenSource = () => Promise<string | undefined>;
