import type { Subscription } from './channels.ts';

/** Request and reply between processes, for calls that must reach the process that owns a socket. */
export interface Requests {
  /** Handles calls to an address until the subscription is closed. Several processes may serve one address; the first reply counts. */
  serve(address: string, handle: (payload: unknown) => Promise<unknown>): Promise<Subscription>;
  /** Rejects with a `RequestError` when no process serves the address, no reply arrives in time, or the handler failed. */
  call(
    address: string,
    payload: unknown,
    options: { readonly timeoutMs: number },
  ): Promise<unknown>;
}

export type RequestFailure = 'unreachable' | 'timeout' | 'failed';

/** A call between processes failed. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly reason: RequestFailure;

  constructor(reason: RequestFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Whether a call failed because no process serves its address. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof RequestError && error.reason === 'unreachable';
