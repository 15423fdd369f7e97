import type { ConversationStore } from '@model-gateway/accounts';
import { ServiceError, type ChatMessage } from '@model-gateway/contracts';
import { toHistory } from './stored-message.ts';

/** How much history a model gets: the newest messages. */
const HISTORY_LIMITS = { messagesMax: 200, bytesMax: 16 * 1024 * 1024 };

/** The stored messages of a conversation of the user, for a model. Read before admission, which reserves them. */
export async function readStoredHistory(
  conversations: Pick<ConversationStore, 'history'>,
  userId: string,
  conversationId: string,
): Promise<readonly ChatMessage[]> {
  const stored = await conversations.history(userId, conversationId, HISTORY_LIMITS);
  if (stored === undefined)
    throw new ServiceError('conversation_not_found', 'conversation not found');
  return toHistory(stored);
}
