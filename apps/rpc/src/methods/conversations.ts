import { relativeAge, type Conversation, type ConversationMessage } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createConversationsMethods({
  conversations,
  clock,
}: Services): HandlersOf<'conversations'> {
  return {
    'conversations.list': async (_params, { user }) =>
      (await conversations.list(user.id)).map((one) => conversationRecord(one, clock.now())),
    'conversations.create': async ({ title }, { user }) =>
      conversationRecord(await conversations.create(user.id, title), clock.now()),
    'conversations.get': async ({ conversation_id }, { user }) => {
      const { conversation, messages } = await conversations.get(user.id, conversation_id);
      const now = clock.now();
      return {
        ...conversationRecord(conversation, now),
        messages: messages.map((message) => messageRecord(message, now)),
      };
    },
    'conversations.delete': async ({ conversation_id }, { user }) => {
      await conversations.remove(user.id, conversation_id);
      return { ok: true };
    },
  };
}

function conversationRecord(
  { id, title, messageCount, createdAt, updatedAt }: Conversation,
  now: number,
): RpcResult<'conversations.create'> {
  return {
    id,
    title,
    message_count: messageCount,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    age: relativeAge(updatedAt, now),
  };
}

function messageRecord(
  { id, role, content, images, toolCalls, model, createdAt }: ConversationMessage,
  now: number,
): RpcResult<'conversations.get'>['messages'][number] {
  return {
    id,
    role,
    content,
    ...(images === undefined ? {} : { images: [...images] }),
    ...(toolCalls === undefined ? {} : { tool_calls: [...toolCalls] }),
    ...(model === undefined ? {} : { model }),
    created_at: createdAt.toISOString(),
    age: relativeAge(createdAt, now),
  };
}
