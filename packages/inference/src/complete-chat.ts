import { ServiceError } from '@model-gateway/contracts';
import { attempt } from './attempts.ts';
import { wantedBy, type ChatDependencies, type ChatTurn } from './chat-turn.ts';
import { estimateUsage, textOfCompletion } from './estimate-usage.ts';
import { upstreamBody } from './upstream-body.ts';

export interface ChatAnswer {
  /** The completion as JSON. */
  readonly text: string;
  /** The name of the backend that served the turn. */
  readonly backend: string;
}

/** Serves one turn whole: route, ask the upstream, meter, answer. */
export async function completeChat(
  turn: ChatTurn,
  { router, meter, requests }: ChatDependencies,
): Promise<ChatAnswer> {
  const { request, caller, surface, refId, signal } = turn;
  const wanted = wantedBy(turn, requests);
  const { answer, route } = await attempt(router, wanted, ({ backend, model }) => {
    if (backend.chat === undefined) throw cannotChat(backend.name);
    return backend.chat(upstreamBody(request, model), signal);
  });
  void route.settle('success');
  const { completion, text } = answer;
  const usage = completion.usage ?? estimateUsage(request.messages, textOfCompletion(completion));
  await meter.record({ caller, model: route.model, surface, usage, refId });
  return {
    text: text ?? JSON.stringify({ ...completion, usage }),
    backend: route.backend.name,
  };
}

/** A backend that declared something which it cannot do. */
export const cannotChat = (backend: string): ServiceError =>
  new ServiceError('unsupported_operation', `backend '${backend}' does not support chat`);
