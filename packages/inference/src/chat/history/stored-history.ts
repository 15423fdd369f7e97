import type { ConversationStore } from '@model-gateway/accounts';
import { ServiceError, type ChatMessage } from '@model-gateway/contracts';
import type { StorageLimit } from '../../storage/storage-limit.ts';
import { toHistory } from './stored-message.ts';

/** How much history a model gets: the newest messages. */
export const HISTORY_LIMITS = { messagesMax: 200, bytesMax: 16 * 1024 * 1024 };

/** The stored messages of a conversation, which are not read yet. */
export interface StoredHistory {
  readonly bytes: number;
  readonly messages: number;
  read(): Promise<readonly ChatMessage[]>;
}

interface HistoryDependencies {
  readonly conversations: Pick<ConversationStore, 'ownerOf' | 'historySize' | 'history'>;
  readonly storageLimit: StorageLimit;
}

/** Finds what a model gets of a conversation of the user. Refuses a conversation for which there is no room. */
export async function findStoredHistory(
  { conversations, storageLimit }: HistoryDependencies,
  userId: string,
  id: string,
): Promise<StoredHistory> {
  const owner = await conversations.ownerOf(id);
  if (owner?.userId !== userId)
    throw new ServiceError('conversation_not_found', 'conversation not found');
  await storageLimit.assertRoom(userId, owner.storedBytes);
  const size = await conversations.historySize(id, HISTORY_LIMITS);
  return {
    bytes: size.bytes,
    messages: size.messageIds.length,
    read: async () => toHistory(await conversations.history(id, size.messageIds)),
  };
}
