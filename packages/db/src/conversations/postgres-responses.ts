import type { ResponseStore, StoredResponse } from '@model-gateway/inference';
import type { Connection } from '../connection/connection.ts';

interface ChainRow extends StoredResponse {
  readonly depth: number;
  readonly bytes: bigint;
}

/** Stored responses in Postgres. */
export function createPostgresResponses(connection: Connection): ResponseStore {
  return {
    save: ({ id, userId, previousId, input, response, createdAt, expiresAt }) =>
      connection.run(async (queries) => {
        // The request may end while its user is being erased, or afterwards: then nothing is stored.
        await queries.$executeRaw`
          INSERT INTO stored_responses (id, user_id, previous_id, input, response, created_at, expires_at)
          SELECT ${id}, account.id, ${previousId}, ${input}, ${response}, ${createdAt}, ${expiresAt}
          FROM users account
          WHERE account.id = ${userId}::uuid AND account.erased_at IS NULL
          FOR KEY SHARE`;
      }),

    find: (userId, ids, now) =>
      connection.run((queries) =>
        queries.storedResponse.findMany({
          where: { userId, id: { in: [...ids] }, expiresAt: { gt: now } },
          select: { id: true, previousId: true, input: true, response: true },
        }),
      ),

    chain: (userId, id, now, { responsesMax, bytesMax }) =>
      connection.run(async (queries) => {
        // The texts are joined at the end, so that the recursion does not copy them.
        const rows = await queries.$queryRaw<ChainRow[]>`
          WITH RECURSIVE chain AS (
            SELECT id, previous_id, 1 AS depth,
              octet_length(input)::bigint + octet_length(response) AS bytes
            FROM stored_responses
            WHERE id = ${id} AND user_id = ${userId}::uuid AND expires_at > ${now}
            UNION ALL
            SELECT r.id, r.previous_id, c.depth + 1,
              c.bytes + octet_length(r.input) + octet_length(r.response)
            FROM chain c
            JOIN stored_responses r ON r.id = c.previous_id
            WHERE r.user_id = ${userId}::uuid AND r.expires_at > ${now}
              AND c.depth < ${responsesMax} AND c.bytes < ${bytesMax}
          )
          SELECT c.id AS "id", c.previous_id AS "previousId", c.depth AS "depth", c.bytes AS "bytes",
            r.input AS "input", r.response AS "response"
          FROM chain c JOIN stored_responses r ON r.id = c.id
          ORDER BY c.depth DESC`;
        const [oldest] = rows;
        if (oldest === undefined) return undefined;
        const isFull = oldest.depth >= responsesMax || oldest.bytes >= bytesMax;
        const missing = oldest.previousId === null ? 'nothing' : isFull ? 'too-long' : 'deleted';
        const responses = rows.map(({ depth: _depth, bytes: _bytes, ...response }) => response);
        return { responses, missing };
      }),

    remove: (userId, id, now) =>
      connection.run(async (queries) => {
        const where = { id, userId, expiresAt: { gt: now } };
        const { count } = await queries.storedResponse.deleteMany({ where });
        return count > 0;
      }),

    removeOldest: (userId, keptMax, countMax) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          DELETE FROM stored_responses WHERE id IN (
            SELECT id FROM stored_responses
            WHERE user_id = ${userId}::uuid
            ORDER BY created_at DESC
            OFFSET ${keptMax}
            LIMIT ${countMax}
          )`;
      }),

    removeExpired: (before, countMax) =>
      connection.run(
        (queries) => queries.$executeRaw`
          DELETE FROM stored_responses WHERE id IN (
            SELECT id FROM stored_responses
            WHERE expires_at < ${before}
            ORDER BY expires_at
            LIMIT ${countMax}
            FOR UPDATE SKIP LOCKED
          )`,
      ),
  };
}
