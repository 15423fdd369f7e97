import { relativeAge, type Conversation, type ConversationMessage } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import { OWN } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

type MessageRecord = RpcResult<'conversations.get'>['messages'][number];

/** The part of the MiB of a page that is for messages; the rest is for the conversation. */
const MESSAGES_BYTES_MAX = 1024 * 1024 - 4096;
const JSON_BYTES_PER_CHAR = 6;

export function createConversationsMethods({
  conversations,
  clock,
}: Services): HandlersOf<'conversations'> {
  return {
    'conversations.list': async ({ before, limit }, { user }) => {
      const page = { before: before ?? undefined, countMax: limit };
      const found = await conversations.list(user.id, page);
      return found.map((one) => conversationRecord(one, clock.now()));
    },
    'conversations.create': {
      audit: OWN,
      handle: async ({ title }, { user }) =>
        conversationRecord(await conversations.create(user.id, title), clock.now()),
    },
    'conversations.get': async ({ conversation_id, before }, { user }) => {
      const page = await conversations.get(user.id, conversation_id, before);
      const now = clock.now();
      const messages = newestWithin(
        MESSAGES_BYTES_MAX,
        page.messages.map((message) => messageRecord(message, now)),
      );
      const has_more = page.hasMore || messages.length < page.messages.length;
      return {
        ...conversationRecord(page.conversation, now),
        messages,
        has_more,
        before: has_more ? (messages[0]?.id ?? null) : null,
      };
    },
    'conversations.delete': {
      audit: OWN,
      handle: async ({ conversation_id }, { user }) => {
        await conversations.remove(user.id, conversation_id);
        return { ok: true };
      },
    },
  };
}

/** The newest messages that fit together. If not even the newest one fits, the beginning of its text. */
function newestWithin(bytesMax: number, messages: readonly MessageRecord[]): MessageRecord[] {
  const kept: MessageRecord[] = [];
  let left = bytesMax;
  for (const message of messages.toReversed()) {
    left -= jsonBytes(message);
    if (left < 0) break;
    kept.unshift(message);
  }
  const newest = messages.at(-1);
  return kept.length > 0 || newest === undefined ? kept : [truncated(newest, bytesMax)];
}

function truncated(message: MessageRecord, bytesMax: number): MessageRecord {
  const { images: _images, tool_calls: _calls, content, ...rest } = message;
  const isTextTooLarge = jsonBytes(content) > bytesMax / 2;
  const shown = isTextTooLarge ? content.slice(0, bytesMax / JSON_BYTES_PER_CHAR / 2) : content;
  return { ...rest, content: shown, truncated: true };
}

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

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
  { id, role, content, images, toolCalls, model, createdAt, isTruncated }: ConversationMessage,
  now: number,
): MessageRecord {
  return {
    id,
    role,
    content,
    ...(images === undefined ? {} : { images: [...images] }),
    ...(toolCalls === undefined ? {} : { tool_calls: [...toolCalls] }),
    ...(model === undefined ? {} : { model }),
    created_at: createdAt.toISOString(),
    age: relativeAge(createdAt, now),
    ...(isTruncated === true ? { truncated: true } : {}),
  };
}
