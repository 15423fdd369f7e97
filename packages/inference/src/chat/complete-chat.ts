import {
  readMediaTokens,
  readCachedTokens,
  readCacheWriteTokens,
  readUsage,
  type TurnAnswer,
  type UpstreamCompletion,
} from '@model-gateway/contracts';
import {
  answerOfChat,
  completionOf,
  eventsOfAnswer,
  type WholeAnswer,
} from '@model-gateway/dialects';
import { UnsupportedByBackend } from '@model-gateway/router';
import { contentOf } from '../stream/chunk-fields.ts';
import type { ChatTurn, TurnServices } from './chat-turn.ts';
import { estimateUsage, textOfCompletion } from '../usage/estimate-usage.ts';
import { NO_REPLY, TOOL_CALLS_MAX, type Reply } from './history/reply-collector.ts';
import { settleTurn } from './settle-turn.ts';

export interface ChatAnswer extends WholeAnswer {
  /** The name of the backend that served the turn. */
  readonly backend: string;
  /** Fields of the request that this backend could not be sent. */
  readonly ignored: readonly string[] | undefined;
  /** The model as that backend lists it. */
  readonly model: string;
}

/** Serves one turn without streaming: route, call the upstream, settle, respond. */
export async function completeChat(
  turn: ChatTurn,
  services: Pick<TurnServices, 'meter'>,
): Promise<ChatAnswer> {
  const { answer, lease, tracked } = await turn.call.attempt(
    { ...turn.wanted(services), answerKind: 'whole' },
    ({ backend, model }, signal, onFirstByte) => {
      if (backend.chat === undefined) throw cannotChat(backend.name);
      void turn.asked();
      const watch = { onFirstByte, onEnd: turn.call.onEnd };
      return backend.chat(turn.upstream({ backend, model }), signal, watch);
    },
  );
  const completion = 'completion' in answer ? answer.completion : completionOf(answer.answer);
  const estimate = () => estimateUsage(turn.full, textOfCompletion(completion));
  const reported = readUsage(completion.usage, completion.model);
  const refusal = await refusalOf(turn, () =>
    'answer' in answer ? answer.answer : answerOfChat(completion),
  );
  const settling = settleTurn(turn, {
    answered: { lease, tracked },
    observed: {
      usage: reported ?? estimate(),
      unitsOf: () => ({
        cachedTokens: readCachedTokens(completion.usage),
        cacheWriteTokens: readCacheWriteTokens(completion.usage),
        mediaTokens: readMediaTokens(completion.usage),
      }),
      estimate,
      outcome: () => ({ model: completion.model, finishReasons: finishReasonsOf(completion) }),
    },
    ending: refusal === undefined ? 'complete' : 'refused',
    reply: () => (refusal === undefined ? replyOf(completion) : NO_REPLY),
  });
  // The client waits only for the record of its usage; the rest runs meanwhile.
  void lease.settle('success');
  const { usage } = await settling;
  if (refusal !== undefined) throw refusal.error;
  const billed = usage === reported ? completion : { ...completion, usage };
  return {
    text: 'text' in answer ? answer.text : undefined,
    completion: billed,
    answer: () =>
      'answer' in answer && billed === completion ? answer.answer : answerOfChat(billed),
    own: 'own' in answer ? answer.own : undefined,
    backend: lease.backend.name,
    ignored: answer.ignored,
    model: lease.model,
  };
}

/** The error of a window that does not let the answer go; what was generated is billed. */
async function refusalOf(
  turn: ChatTurn,
  answer: () => TurnAnswer,
): Promise<{ readonly error: unknown } | undefined> {
  const held = turn.held();
  if (held === undefined) return undefined;
  try {
    await held.next([{ events: eventsOfAnswer(answer()) }], true);
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** A backend that declared a capability without supporting it. */
export const cannotChat = (backend: string): UnsupportedByBackend =>
  new UnsupportedByBackend('unsupported_operation', `backend '${backend}' does not support chat`);

const finishReasonsOf = ({ choices }: UpstreamCompletion): readonly string[] =>
  choices.flatMap(({ finish_reason: reason }) => (typeof reason === 'string' ? [reason] : []));

function replyOf({ choices }: UpstreamCompletion): Reply {
  const message = choices[0]?.message ?? {};
  const { tool_calls: toolCalls }: { tool_calls?: unknown } = message;
  return {
    content: contentOf(message),
    toolCalls: Array.isArray(toolCalls) ? toolCalls.slice(0, TOOL_CALLS_MAX) : [],
  };
}
