import {
  type ConversationStore,
  conversationTitle,
  type NewMessage,
} from '@model-gateway/accounts';
import type { ChatMessage } from '@model-gateway/contracts';
import { describeError, type Log, withTimeout } from '@model-gateway/kernel';
import { messageText } from '../message-text.ts';
import type { Reply } from './reply-collector.ts';
import { isResultRole, toStored, toStoredReply } from './stored-message.ts';
import type { EditableCall, Hook } from '../../call/call.ts';

/** Stores one turn of a conversation. A failure is logged, and never fails or delays the turn much. */
export interface TurnRecord {
  /** Stores the new messages. Resolves when they are stored, or when that failed. */
  begin(): Promise<void>;
  /** Stores the reply after its messages. Returns the id of the reply if it was stored in time. */
  end(reply: Reply, model: string): Promise<string | undefined>;
}

interface TurnRecordOptions {
  readonly store: Pick<ConversationStore, 'addTurn' | 'addToTurn'>;
  readonly conversationId: string;
  readonly added: readonly ChatMessage[];
  readonly log: Log;
}

/** How long a turn waits for a slow store; the write itself continues. */
const PATIENCE_MS = 2_000;

export function createTurnRecord(options: TurnRecordOptions): TurnRecord {
  const { store, conversationId, added, log } = options;
  let turn: Promise<string | undefined> | undefined;

  const notWritten = (error: unknown): undefined => {
    log.warn(
      { conversation_id: conversationId, reason: describeError(error) },
      'storing a turn of a conversation failed',
    );
  };

  const beginning = (): Promise<string | undefined> => {
    turn ??= store.addTurn(conversationId, added.map(toStored), titleOf(added)).catch(notWritten);
    return turn;
  };

  async function addReply(message: NewMessage): Promise<string | undefined> {
    if (added.length === 0) {
      await store.addTurn(conversationId, [message]).catch(notWritten);
      return undefined;
    }
    const number = await beginning();
    // The conversation was deleted, or the messages could not be stored: a reply without them is not stored.
    if (number === undefined) return undefined;
    return store.addToTurn(conversationId, number, message).catch(notWritten);
  }

  return {
    async begin() {
      if (added.length === 0) return;
      await withTimeout(beginning(), PATIENCE_MS).catch(() => undefined);
    },
    async end(reply, model) {
      if (reply.content === '' && reply.toolCalls.length === 0) return undefined;
      const adding = addReply(toStoredReply(reply, model));
      return withTimeout(adding, PATIENCE_MS).catch(() => undefined);
    },
  };
}

function titleOf(added: readonly ChatMessage[]): string | undefined {
  const first = added.find(({ role }) => role === 'user');
  return first === undefined ? undefined : conversationTitle(messageText(first));
}

interface ConversationHookDependencies {
  readonly conversations: Pick<ConversationStore, 'addTurn' | 'addToTurn'>;
  readonly log: Log;
}

/** Puts the history of a conversation before the messages of its turns, and stores them. */
export const createConversationHook = ({
  conversations: store,
  log,
}: ConversationHookDependencies): Hook => ({
  async before(call) {
    if (call.conversation === undefined) return undefined;
    const { id: conversationId, history } = call.conversation;
    if (history !== 'client') call.insert(history);
    const record = createTurnRecord({ store, conversationId, added: newMessagesOf(call), log });
    return {
      accepted: () => record.begin(),
      ended: ({ reply, model }) => record.end(reply(), model),
    };
  },
});

/**
 * The messages that a turn adds to its conversation. If the client sends the history, these are its last user message or the
 * results of the latest tool calls.
 */
function newMessagesOf({ chat: { messages }, conversation }: EditableCall): readonly ChatMessage[] {
  if (conversation?.history !== 'client') return messages;
  const sinceReply = messages.slice(messages.findLastIndex(isReply) + 1);
  const results = sinceReply.filter(({ role }) => isResultRole(role));
  const last = (results.length === 0 ? messages : sinceReply).findLast(isUser);
  return last === undefined ? results : [last];
}

const isReply = ({ role }: ChatMessage): boolean => role === 'assistant';
const isUser = ({ role }: ChatMessage): boolean => role === 'user';
