import type { ConversationStore } from '@model-gateway/accounts';
import type { ChatMessage } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import type { EditableCall, Hook } from '../../call/call.ts';
import { isResultRole } from './stored-message.ts';
import { createTurnRecord } from './turn-record.ts';

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
