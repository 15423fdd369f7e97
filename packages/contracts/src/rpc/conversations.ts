import { z } from 'zod';
import { method } from './method.ts';
import { done, record, text, timestamp } from './records.ts';

const TITLE_CHARS_MAX = 200;

/** The title of a conversation without a given one. */
export const CONVERSATION_TITLE_DEFAULT = 'New Conversation';

const conversation = record('Conversation', {
  id: z.uuid(),
  title: z.string(),
  message_count: z.int(),
  created_at: timestamp,
  updated_at: timestamp,
  age: z.string(),
});

/** `id` is the older name of `conversation_id`, which is used when both are given. */
const conversationId = z
  .object({
    conversation_id: z.uuid().optional().describe('or `id`'),
    // Validated only when `conversation_id` is absent.
    id: z.unknown().optional().describe('the older name of `conversation_id`'),
  })
  .transform(({ conversation_id, id }, context) => {
    if (conversation_id !== undefined) return { conversation_id };
    const older = z.uuid().safeParse(id);
    if (older.success) return { conversation_id: older.data };
    const [path, message] =
      id === undefined ? ['conversation_id', 'required'] : ['id', 'Invalid UUID'];
    context.addIssue({ code: 'custom', path: [path], message });
    return z.NEVER;
  });

export const conversationsMethods = {
  'conversations.list': method({
    auth: 'jwt',
    summary: 'Your conversations, the most recently used first.',
    params: z.object({}),
    result: z.array(conversation),
  }),
  'conversations.create': method({
    auth: 'jwt',
    summary: 'Start a conversation.',
    params: z.object({
      title: text(TITLE_CHARS_MAX).min(1).default(CONVERSATION_TITLE_DEFAULT),
    }),
    result: conversation,
  }),
  'conversations.get': method({
    auth: 'jwt',
    summary: 'One of your conversations with its messages.',
    params: conversationId,
    result: conversation.extend({
      messages: z.array(
        record('Message', {
          id: z.uuid(),
          role: z.string(),
          content: z.string(),
          images: z.array(z.unknown()).optional(),
          tool_calls: z.array(z.unknown()).optional(),
          model: z.string().optional(),
          created_at: timestamp,
          age: z.string(),
        }),
      ),
    }),
  }),
  'conversations.delete': method({
    auth: 'jwt',
    summary: 'Delete one of your conversations.',
    params: conversationId,
    result: done,
  }),
};
