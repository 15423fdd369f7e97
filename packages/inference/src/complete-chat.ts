import { ServiceError, type ChatCompletion, type ChatRequest } from '@model-gateway/contracts';
import type { Router, UpstreamChat } from '@model-gateway/router';
import type { Caller } from './caller.ts';
import { estimateUsage } from './estimate-usage.ts';
import type { Meter } from './meter.ts';
import type { RequestCounter } from './request-counter.ts';

/** One chat turn that is answered whole. */
export interface ChatTurn {
  readonly caller: Caller;
  readonly surface: string;
  readonly request: ChatRequest;
  readonly refId: string | null;
  /** Aborted when the client went away. */
  readonly signal: AbortSignal;
}

export interface ChatAnswer {
  readonly completion: ChatCompletion;
  /** The name of the backend that served the turn. */
  readonly backend: string;
}

interface ChatDependencies {
  readonly router: Router;
  readonly meter: Meter;
  readonly requests: Pick<RequestCounter, 'accepted'>;
}

// Fields that are for the gateway; no upstream ever sees them.
const OWN_FIELDS: readonly string[] = ['conversation_id', 'memory', 'extra', 'provider'];

/** Serves one turn: route, ask the upstream, meter, answer. */
export async function completeChat(
  turn: ChatTurn,
  { router, meter, requests }: ChatDependencies,
): Promise<ChatAnswer> {
  const { request, caller, surface, refId, signal } = turn;
  const { backend, model } = router.choose(request.model, {
    provider: request.provider ?? undefined,
  });
  if (backend.chat === undefined) {
    throw new ServiceError(
      'unsupported_operation',
      `backend '${backend.name}' does not support chat`,
    );
  }
  requests.accepted();
  const completion = await backend.chat(upstreamBody(request, model), signal);
  const usage = completion.usage ?? estimateUsage(request.messages, completion);
  await meter.record({ caller, model, surface, usage, refId });
  return { completion: { ...completion, usage }, backend: backend.name };
}

function upstreamBody(request: ChatRequest, model: string): UpstreamChat {
  const forwarded = Object.entries(request).filter(([name]) => !OWN_FIELDS.includes(name));
  return { ...Object.fromEntries(forwarded), model };
}
