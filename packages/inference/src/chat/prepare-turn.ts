import type { ChatMessage, ChatRequest } from '@model-gateway/contracts';
import type { AnswerKind } from '@model-gateway/router';
import type { RouteRequest } from '../upstream/attempts.ts';
import { settle } from '../call/settle.ts';
import { hasMedia } from '../upstream/has-media.ts';
import { estimatePrompt, estimateUsage } from '../usage/estimate-usage.ts';
import { settledCall, type ChatDependencies, type ChatTurn } from './chat-turn.ts';
import type { MemoryState } from '../memory/memory.ts';
import { isResultRole } from './history/stored-message.ts';
import { createTurnRecord, type TurnRecord } from './history/turn-record.ts';
import { allowedBy } from './model-rules.ts';

/** A turn with its complete messages, ready to be routed. */
export interface PreparedTurn extends ChatTurn {
  /** The request with memories and the history before its messages. */
  readonly full: ChatRequest;
  /** The memories and the history. */
  readonly added: readonly ChatMessage[];
  readonly memory: MemoryState;
  /** Stores the turn; undefined outside of conversations. */
  readonly record: TurnRecord | undefined;
}

/** Completes a turn; synchronous if there is nothing to look up, as for most turns. */
export function prepareTurn(
  turn: ChatTurn,
  dependencies: ChatDependencies,
): PreparedTurn | Promise<PreparedTurn> {
  if (turn.conversationId === undefined && !dependencies.memory.isConfigured) {
    // Field by field, because this runs for every request and `...` costs some microseconds.
    const { caller, surface, request, resolvedModel, conversationId, history, refId, signal } =
      turn;
    const { reservation, startedAt, fallbacks, trace, own, onEnd } = turn;
    return {
      caller,
      surface,
      request,
      own,
      resolvedModel,
      fallbacks,
      conversationId,
      history,
      refId,
      startedAt,
      reservation,
      trace,
      signal,
      onEnd,
      full: request,
      added: [],
      memory: 'disabled',
      record: undefined,
    };
  }
  return assemble(turn, dependencies);
}

/** The route request of a turn. */
export function routeRequestOf(
  turn: PreparedTurn,
  { requests, meter }: Pick<ChatDependencies, 'requests' | 'meter'>,
  answerKind: AnswerKind = 'streamed',
): RouteRequest {
  const { caller, request, resolvedModel, conversationId, signal, record, trace } = turn;
  return {
    model: request.model,
    resolved: resolvedModel,
    fallbacks: turn.fallbacks,
    capability: 'chat',
    provider: request.provider ?? undefined,
    conversationId,
    allows: allowedBy(caller),
    signal,
    trace,
    answerKind,
    hasMedia: () => hasMedia(turn.full.messages),
    onAccepted() {
      requests.accepted();
      void record?.begin();
    },
    unbilled: ({ model, backend }) => meter.unbilled(model, backend, estimatePrompt(turn.full)),
    // Nothing of an answer was seen, but the upstream has the prompt.
    onLeft: async (lease) => {
      const usage = estimateUsage(turn.full, '');
      await settle(settledCall(turn), { lease }, { usage }, 'left', meter);
    },
  };
}

async function assemble(turn: ChatTurn, dependencies: ChatDependencies): Promise<PreparedTurn> {
  const { caller, request, conversationId } = turn;
  const { memory, conversations, log } = dependencies;
  const earlier = turn.history === 'client' ? [] : turn.history;
  const isEnabled = request.memory !== false;
  const recall = await memory.recall(caller.userId, request.messages, isEnabled);
  const added = [...(recall.message === undefined ? [] : [recall.message]), ...earlier];
  const messages = [...added, ...request.messages];
  const record =
    conversationId === undefined
      ? undefined
      : createTurnRecord({
          store: conversations,
          conversationId,
          added: newMessagesOf(turn),
          log,
        });
  return { ...turn, full: { ...request, messages }, added, memory: recall.state, record };
}

/**
 * The messages that a turn adds to its conversation. If the client sends the history, these are its last user message or the
 * results of the latest tool calls.
 */
function newMessagesOf({ request: { messages }, history }: ChatTurn): readonly ChatMessage[] {
  if (history !== 'client') return messages;
  const sinceReply = messages.slice(messages.findLastIndex(isReply) + 1);
  const results = sinceReply.filter(({ role }) => isResultRole(role));
  const last = (results.length === 0 ? messages : sinceReply).findLast(isUser);
  return last === undefined ? results : [last];
}

const isReply = ({ role }: ChatMessage): boolean => role === 'assistant';
const isUser = ({ role }: ChatMessage): boolean => role === 'user';
