import type { ConversationStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Caller, StorageLimit } from '@model-gateway/inference';
import { z } from 'zod';

/**
 * Refuses a turn in a conversation that does not exist or belongs to another user, or for which there is no room. Returns the id that routing uses,
 * synchronously where there is none.
 */
export type CheckConversation = (
  caller: Caller,
  conversationId: string | null | undefined,
) => Promise<string> | undefined;

const uuid = z.uuid();

export function createConversationCheck(
  conversations: Pick<ConversationStore, 'ownerOf'>,
  storageLimit: StorageLimit,
): CheckConversation {
  async function check({ userId }: Caller, conversationId: string): Promise<string> {
    const owner = uuid.safeParse(conversationId).success
      ? await conversations.ownerOf(conversationId)
      : undefined;
    if (owner === undefined)
      throw new ServiceError('conversation_not_found', 'conversation not found');
    if (owner.userId !== userId) {
      throw new ServiceError('conversation_forbidden', 'the conversation belongs to another user');
    }
    await storageLimit.assertRoom(userId, owner.storedBytes);
    return conversationId;
  }

  return (caller, conversationId) =>
    conversationId === null || conversationId === undefined
      ? undefined
      : check(caller, conversationId);
}
