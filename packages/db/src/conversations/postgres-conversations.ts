import type { Conversation, ConversationStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { FairQueue } from '@model-gateway/kernel';
import { lockUser } from '../accounts/lock-user.ts';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import {
  insertIntoTurn,
  insertTurn,
  measureHistory,
  readHistory,
  readPage,
} from './conversation-messages.ts';

interface OwnerRow {
  readonly userId: string;
  readonly conversations: bigint;
  readonly responses: bigint;
}

/** Conversations in Postgres. New ones of a user wait for each other before they take a connection. */
export function createPostgresConversations(
  connection: Connection,
  turns: FairQueue,
): ConversationStore {
  return {
    create: ({ id, userId, title }, countMax) =>
      turns.run(userId, () =>
        connection.transaction(async (queries) => {
          // Waits for a change of the account in progress: a user who was erased meanwhile gets no conversation.
          await lockUser(queries, userId);
          if (countMax !== undefined) await assertRoomForConversation(queries, userId, countMax);
          const conversation = await queries.conversation.create({
            data: { id, userId, title },
            omit: { userId: true, bytes: true },
          });
          return { ...conversation, messageCount: 0 };
        }),
      ),

    list: (userId, { before, countMax }) =>
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
            ${before === undefined ? Prisma.empty : listedAfter(userId, before)}
          ORDER BY c.updated_at DESC, c.id
          LIMIT ${countMax}`,
      ),

    find: (userId, id, page) =>
      connection.run(async (queries) => {
        const found = await queries.conversation.findUnique({
          where: { id, userId },
          omit: { userId: true, bytes: true },
        });
        if (found === null) return undefined;
        const [shown, messageCount] = await Promise.all([
          readPage(queries, id, page),
          queries.message.count({ where: { conversationId: id } }),
        ]);
        return { conversation: { ...found, messageCount }, ...shown };
      }),

    historySize: (id, limits) => connection.run((queries) => measureHistory(queries, id, limits)),

    history: (id, messageIds) => connection.run((queries) => readHistory(queries, id, messageIds)),

    addTurn: (id, messages, title) =>
      connection.run((queries) => insertTurn(queries, id, messages, title)),

    addToTurn: (id, turn, message) =>
      connection.run((queries) => insertIntoTurn(queries, id, turn, message)),

    ownerOf: (id) =>
      connection.run(async (queries) => {
        const [owner] = await queries.$queryRaw<OwnerRow[]>`
          SELECT c.user_id AS "userId", coalesce(s.conversations, 0) AS conversations,
            coalesce(s.responses, 0) AS responses
          FROM conversations c LEFT JOIN stored_bytes s USING (user_id)
          WHERE c.id = ${id}::uuid`;
        if (owner === undefined) return undefined;
        const { userId, conversations, responses } = owner;
        return {
          userId,
          storedBytes: { conversations: Number(conversations), responses: Number(responses) },
        };
      }),

    remove: (userId, id) =>
      connection.run(async (queries) => {
        const { count } = await queries.conversation.deleteMany({ where: { id, userId } });
        return count > 0;
      }),
  };
}

async function assertRoomForConversation(
  queries: Queries,
  userId: string,
  countMax: number,
): Promise<void> {
  const [row] = await queries.$queryRaw<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM (
      SELECT 1 FROM conversations WHERE user_id = ${userId}::uuid LIMIT ${countMax}
    ) AS kept`;
  if ((row?.count ?? 0) < countMax) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `too many conversations: at most ${countMax} per user. Delete one first.`,
  );
}

/** In the order of the index: the newest first, and those of the same time by id. One of another user is followed by nothing. */
function listedAfter(userId: string, id: string): Prisma.Sql {
  const updatedAt = Prisma.sql`
    (SELECT updated_at FROM conversations WHERE id = ${id}::uuid AND user_id = ${userId}::uuid)`;
  return Prisma.sql`
    AND c.updated_at <= ${updatedAt} AND (c.updated_at < ${updatedAt} OR c.id > ${id}::uuid)`;
}
