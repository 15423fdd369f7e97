import type { Conversation, ConversationStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection } from '../connection/connection.ts';
import { insertIntoTurn, insertTurn, readHistory, readPage } from './conversation-messages.ts';

/** Conversations in Postgres. */
export function createPostgresConversations(connection: Connection): ConversationStore {
  return {
    create: ({ id, userId, title }) =>
      connection.run(async (queries) => {
        // Waits for a change of the account in progress: a user who was erased meanwhile gets no conversation.
        const [conversation] = await queries.$queryRaw<Omit<Conversation, 'messageCount'>[]>`
          INSERT INTO conversations (id, user_id, title)
          SELECT ${id}::uuid, id, ${title} FROM users WHERE id = ${userId}::uuid AND is_active
          FOR SHARE
          RETURNING id, title, created_at AS "createdAt", updated_at AS "updatedAt"`;
        if (conversation === undefined) throw new ServiceError('not_found', 'user not found');
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

    find: (userId, id, page) =>
      connection.run(async (queries) => {
        const found = await queries.conversation.findUnique({
          where: { id, userId },
          omit: { userId: true },
        });
        if (found === null) return undefined;
        const [shown, messageCount] = await Promise.all([
          readPage(queries, id, page),
          queries.message.count({ where: { conversationId: id } }),
        ]);
        return { conversation: { ...found, messageCount }, ...shown };
      }),

    history: (userId, id, limits) =>
      connection.run(async (queries) => {
        const found = await queries.conversation.findUnique({
          where: { id, userId },
          select: { id: true },
        });
        return found === null ? undefined : readHistory(queries, id, limits);
      }),

    addTurn: (id, messages, title) =>
      connection.run((queries) => insertTurn(queries, id, messages, title)),

    addToTurn: (id, turn, message) =>
      connection.run((queries) => insertIntoTurn(queries, id, turn, message)),

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
