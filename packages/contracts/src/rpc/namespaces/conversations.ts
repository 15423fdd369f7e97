import { z } from 'zod';
import { method } from '../method.ts';
import { done, listLimit, record, text, timestamp } from './records.ts';

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
const named = {
  conversation_id: z.uuid().optional().describe('or `id`'),
  // Validated only when `conversation_id` is absent.
  id: z.unknown().optional().describe('the older name of `conversation_id`'),
};

interface Named {
  readonly conversation_id?: string | undefined;
  readonly id?: unknown;
}

function idOf({ conversation_id, id }: Named, context: z.RefinementCtx): string {
  if (conversation_id !== undefined) return conversation_id;
  const older = z.uuid().safeParse(id);
  if (older.success) return older.data;
  const [path, message] =
    id === undefined ? ['conversation_id', 'required'] : ['id', 'must be a UUID'];
  context.addIssue({ code: 'custom', path: [path], message });
  return z.NEVER;
}

const conversationId = z
  .object(named)
  .transform((params, context) => ({ conversation_id: idOf(params, context) }));

export const conversationsMethods = {
  'conversations.list': method({
    auth: 'jwt',
    summary: 'Your conversations, the most recently used first, at most 1,000 at a time.',
    params: z.object({
      before: z.uuid().nullish().describe('only conversations used before the one with this id'),
      limit: listLimit,
    }),
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
    summary: 'One of your conversations with its newest messages, at most 1,000 and 1 MiB.',
    params: z
      .object({
        ...named,
        before: z.uuid().nullish().describe('only messages before the one with this id'),
      })
      .transform((params, context) => ({
        conversation_id: idOf(params, context),
        before: params.before ?? undefined,
      })),
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
          truncated: z
            .literal(true)
            .optional()
            .describe('the message alone is larger than 1 MiB, and only a part of it is shown'),
        }),
      ),
      has_more: z.boolean().describe('there are older messages'),
      before: z.uuid().nullable().describe('for the next call, if there are older messages'),
    }),
  }),
  'conversations.delete': method({
    auth: 'jwt',
    summary: 'Delete one of your conversations.',
    params: conversationId,
    result: done,
  }),
};
