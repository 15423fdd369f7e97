import type { ChatRequest } from '@model-gateway/contracts';
import type { Cancel } from '@model-gateway/kernel';
import type { Router } from '@model-gateway/router';
import type { Wanted } from './attempts.ts';
import type { Caller } from './caller.ts';
import type { Meter } from './meter.ts';
import type { RequestCounter } from './request-counter.ts';

/** One chat turn. */
export interface ChatTurn {
  readonly caller: Caller;
  /** Which surface serves it: `gateway` or `rpc`. */
  readonly surface: string;
  readonly request: ChatRequest;
  /** The conversation that the turn belongs to; its turns go to one backend. */
  readonly conversationId: string | undefined;
  readonly refId: string | null;
  /** Aborted when the client went away. */
  readonly signal: Cancel;
}

export interface ChatDependencies {
  readonly router: Pick<Router, 'choose'>;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
}

/** What a turn asks the router for. */
export function wantedBy(
  { request, conversationId, signal }: ChatTurn,
  requests: Pick<RequestCounter, 'accepted'>,
): Wanted {
  return {
    model: request.model,
    capability: 'chat',
    provider: request.provider ?? undefined,
    conversationId,
    signal,
    onAccepted: () => requests.accepted(),
  };
}
