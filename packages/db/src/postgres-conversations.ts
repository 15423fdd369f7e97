import type { Conversation, ConversationMessage, ConversationStore } from '@model-gateway/accounts';
import { z } from 'zod';
import type { Connection } from './connection.ts';
import type { Message as MessageRow } from './generated/client.ts';

const listSchema = z.array(z.unknown()).nullable().catch(null);

/** Conversations in Postgres. */
export function createPostgresConversations(connection: Connection): ConversationStore {
  return {
    create: ({ id, userId, title }) =>
      connection.run(async (queries) => {
        const conversation = await queries.conversation.create({
          data: { id, userId, title },
          omit: { userId: true },
        });
        return { ...conversation, messageCount: 0 };
      }),

    list: (userId, countMax) =>
      connection.run(
        (queries) => queries.$queryRaw<Conversation[]>`
          SELECT
            c.id AS "id",
            c.title AS "title",
            (SELECT count(*)::int FROM messages m WHERE m.conversation_id = c.id) AS "messageCount",
            c.created_at AS "createdAt",
            c.updated_at AS "updatedAt"
          FROM conversations c
          WHERE c.user_id = ${userId}::uuid
          ORDER BY c.updated_at DESC, c.id
          LIMIT ${countMax}`,
      ),

    find: (userId, id, messagesMax) =>
      connection.run(async (queries) => {
        const found = await queries.conversation.findUnique({
          where: { id, userId },
          omit: { userId: true },
        });
        if (found === null) return undefined;
        const [messages, messageCount] = await Promise.all([
          queries.message.findMany({
            where: { conversationId: id },
            orderBy: { position: 'desc' },
            take: messagesMax,
          }),
          queries.message.count({ where: { conversationId: id } }),
        ]);
        return {
          conversation: { ...found, messageCount },
          messages: messages.toReversed().map(toMessage),
        };
      }),

    ownerOf: (id) =>
      connection.run(async (queries) => {
        const found = await queries.conversation.findUnique({
          where: { id },
          select: { userId: true },
        });
        return found?.userId;
      }),

    remove: (userId, id) =>
      connection.run(async (queries) => {
        const { count } = await queries.conversation.deleteMany({ where: { id, userId } });
        return count > 0;
      }),
  };
}

function toMessage(row: MessageRow): ConversationMessage {
  const images = listSchema.parse(row.images);
  const toolCalls = listSchema.parse(row.toolCalls);
  return {
    id: row.id,
    role: row.role,
    content: row.content,
    ...(images === null ? {} : { images }),
    ...(toolCalls === null ? {} : { toolCalls }),
    ...(row.model === null ? {} : { model: row.model }),
    createdAt: row.createdAt,
  };
}
