import type { Caller, FallbackModel, RequestTrace, Reservation } from '@model-gateway/inference';
import type { LimitHeaders } from './surface/limit-headers.ts';

/** A request that may be routed: its key, limits, body and quota have been checked, in this order. */
export interface AuthorizedRequest<Body> {
  readonly caller: Caller;
  readonly body: Body;
  /** What the model's alias stands for: resolved once, so that the model that was checked is the one that serves. */
  readonly resolvedModel: string;
  /** Models that may be tried when this one cannot answer. */
  readonly fallbacks: readonly FallbackModel[];
  /** For every response to the request. */
  readonly limitHeaders: LimitHeaders;
  /** When the request arrived, by `performance.now()`. */
  readonly startedAt: number;
  /** The receiver ends it when the request is over. */
  readonly reservation: Reservation;
  readonly trace: RequestTrace | undefined;
}
