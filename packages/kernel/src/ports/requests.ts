import type { Subscription } from './channels.ts';

/** Request and reply between processes: how a call reaches the process that holds a socket. */
export interface Requests {
  /** Answers calls to an address until the subscription is closed. Many processes may serve one address; the first answer counts. */
  serve(address: string, answer: (payload: unknown) => Promise<unknown>): Promise<Subscription>;
  /** Rejects with a `RequestError` when nobody listens, nobody answers in time, or the answering side failed. */
  call(
    address: string,
    payload: unknown,
    options: { readonly timeoutMs: number },
  ): Promise<unknown>;
}

export type RequestFailure = 'unreachable' | 'timeout' | 'failed';

/** Why a call between processes has no answer. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly reason: RequestFailure;

  constructor(reason: RequestFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}
