import type { ConversationStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Caller } from '@model-gateway/inference';
import { z } from 'zod';

/** Refuses a turn in a conversation that does not exist or is somebody else's; answers the id that routing goes by. */
export type ConversationGate = (
  caller: Caller,
  conversationId: string | null | undefined,
) => Promise<string | undefined>;

const uuid = z.uuid();

export function createConversationGate(
  conversations: Pick<ConversationStore, 'ownerOf'>,
): ConversationGate {
  return async (caller, conversationId) => {
    if (conversationId === null || conversationId === undefined) return undefined;
    const owner = uuid.safeParse(conversationId).success
      ? await conversations.ownerOf(conversationId)
      : undefined;
    if (owner === undefined)
      throw new ServiceError('conversation_not_found', 'conversation not found');
    if (owner !== caller.userId) {
      throw new ServiceError('conversation_forbidden', 'the conversation belongs to another user');
    }
    return conversationId;
  };
}
