import type { RpcRequest, RpcResponse } from './envelope.ts';

/** How requests travel. */
export interface Transport {
  /** Sends one request and resolves with its answer. */
  send(request: RpcRequest, options: SendOptions): Promise<RpcResponse>;
  /** Sends many requests as one batch and resolves with their answers, in the same order. */
  sendBatch(requests: readonly RpcRequest[], options: SendOptions): Promise<readonly RpcResponse[]>;
  /** Ends what is under way. */
  close(): void;
}

export interface SendOptions {
  /** Fires with the reason to give up for. */
  readonly signal: AbortSignal;
  /** A session on which a copy of the answer shall arrive; only HTTP can carry it. */
  readonly sessionId: string | undefined;
}

/** Gives the token of the moment, if there is one. */
export type TokenSource = () => Promise<string | undefined>;
