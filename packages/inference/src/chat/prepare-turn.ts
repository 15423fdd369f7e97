import { ServiceError, type ChatMessage, type ChatRequest } from '@model-gateway/contracts';
import type { RouteRequest } from '../upstream/attempts.ts';
import type { ChatDependencies, ChatTurn } from './chat-turn.ts';
import type { MemoryState } from '../memory/memory.ts';
import type { RequestCounter } from '../usage/request-counter.ts';
import { toHistory } from './stored-message.ts';
import { createTurnRecord, type TurnRecord } from './turn-record.ts';

/** A turn with all that a model is to be told: it can be routed. */
export interface PreparedTurn extends ChatTurn {
  /** The request with what is remembered and what was said before in front of its messages. */
  readonly full: ChatRequest;
  readonly memory: MemoryState;
  /** Where the turn is written down; undefined outside of conversations. */
  readonly record: TurnRecord | undefined;
}

/** How much of a conversation a model is told again: the newest messages. */
const HISTORY_LIMITS = { messagesMax: 200, bytesMax: 16 * 1024 * 1024 };

/** Puts a turn together. At once where there is nothing to look up, which is what most turns are. */
export function prepareTurn(
  turn: ChatTurn,
  dependencies: ChatDependencies,
): PreparedTurn | Promise<PreparedTurn> {
  if (turn.conversationId === undefined && !dependencies.memory.isConfigured) {
    // Field by field, because every request comes by here, and `...` costs it some microseconds.
    const { caller, surface, request, resolvedModel, conversationId, history, refId, signal } =
      turn;
    return {
      caller,
      surface,
      request,
      resolvedModel,
      conversationId,
      history,
      refId,
      signal,
      full: request,
      memory: 'disabled',
      record: undefined,
    };
  }
  return assemble(turn, dependencies);
}

/** What a turn asks the router for. */
export function routeRequestOf(
  { request, resolvedModel, conversationId, signal, record }: PreparedTurn,
  requests: Pick<RequestCounter, 'accepted'>,
): RouteRequest {
  return {
    model: request.model,
    resolved: resolvedModel,
    capability: 'chat',
    provider: request.provider ?? undefined,
    conversationId,
    signal,
    onAccepted() {
      requests.accepted();
      void record?.begin();
    },
  };
}

async function assemble(turn: ChatTurn, dependencies: ChatDependencies): Promise<PreparedTurn> {
  const { caller, request, conversationId } = turn;
  const { memory, conversations, log } = dependencies;
  const earlier = await historyOf(turn, conversations);
  const isWanted = request.memory !== false;
  const recall = await memory.recall(caller.userId, request.messages, isWanted);
  const remembered = recall.message === undefined ? [] : [recall.message];
  const messages = [...remembered, ...earlier, ...request.messages];
  const record =
    conversationId === undefined
      ? undefined
      : createTurnRecord({
          store: conversations,
          conversationId,
          added: newMessagesOf(turn),
          log,
        });
  return { ...turn, full: { ...request, messages }, memory: recall.state, record };
}

async function historyOf(
  { caller, conversationId, history }: ChatTurn,
  conversations: ChatDependencies['conversations'],
): Promise<readonly ChatMessage[]> {
  if (conversationId === undefined || history === 'client') return [];
  const stored = await conversations.history(caller.userId, conversationId, HISTORY_LIMITS);
  if (stored === undefined)
    throw new ServiceError('conversation_not_found', 'conversation not found');
  return toHistory(stored);
}

/**
 * What a turn adds to its conversation. A client that sends the history along adds its last user message, or the results of
 * the tools that the model has called since.
 */
function newMessagesOf({ request: { messages }, history }: ChatTurn): readonly ChatMessage[] {
  if (history === 'stored') return messages;
  const sinceReply = messages.slice(messages.findLastIndex(isReply) + 1);
  const results = sinceReply.filter(({ role }) => role === 'tool');
  const last = (results.length === 0 ? messages : sinceReply).findLast(isUser);
  return last === undefined ? results : [last];
}

const isReply = ({ role }: ChatMessage): boolean => role === 'assistant';
const isUser = ({ role }: ChatMessage): boolean => role === 'user';
