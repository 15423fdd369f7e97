import type { ResponseStore, StoredResponseSize } from '@model-gateway/inference';
import type { Connection } from '../connection/connection.ts';

interface ChainRow extends StoredResponseSize {
  readonly depth: number;
}

const SIZE = {
  id: true,
  previousId: true,
  bytes: true,
  inputItems: true,
  outputItems: true,
  largestInputBytes: true,
  largestOutputBytes: true,
} as const;

/** A user at the limit of bytes gets this part of it free. */
const SLACK_PARTS = 64;

/** Stored responses in Postgres. */
export function createPostgresResponses(connection: Connection): ResponseStore {
  return {
    save: (stored, storedBytesMax) =>
      connection.run(async (queries) => {
        const { id, userId, previousId, input, response, createdAt, expiresAt } = stored;
        const bytes = Buffer.byteLength(input) + Buffer.byteLength(response);
        const { inputItems, outputItems, largestInputBytes, largestOutputBytes } = stored;
        // The request may end while its user is being erased, or afterwards: then nothing is stored.
        const count = await queries.$executeRaw`
          INSERT INTO stored_responses (id, user_id, previous_id, input, response, created_at, expires_at,
            bytes, input_items, output_items, largest_input_bytes, largest_output_bytes)
          SELECT ${id}, account.id, ${previousId}, ${input}, ${response}, ${createdAt}, ${expiresAt},
            ${bytes}, ${inputItems}, ${outputItems}, ${largestInputBytes}, ${largestOutputBytes}
          FROM users account
          WHERE account.id = ${userId}::uuid AND account.erased_at IS NULL
            AND ${bytes} + coalesce((SELECT conversations FROM stored_bytes WHERE user_id = account.id), 0)
              <= ${storedBytesMax}::bigint
          FOR KEY SHARE OF account`;
        return count > 0;
      }),

    sizes: (userId, ids, now) =>
      connection.run((queries) =>
        queries.storedResponse.findMany({
          where: { userId, id: { in: [...ids] }, expiresAt: { gt: now } },
          select: SIZE,
        }),
      ),

    find: (userId, ids, now) =>
      connection.run((queries) =>
        queries.storedResponse.findMany({
          where: { userId, id: { in: [...ids] }, expiresAt: { gt: now } },
          select: { id: true, previousId: true, input: true, response: true },
        }),
      ),

    chain: (userId, id, now, responsesMax) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<ChainRow[]>`
          WITH RECURSIVE chain AS (
            SELECT id, previous_id, 1 AS depth,
              bytes, input_items, output_items, largest_input_bytes, largest_output_bytes
            FROM stored_responses
            WHERE id = ${id} AND user_id = ${userId}::uuid AND expires_at > ${now}
            UNION ALL
            SELECT r.id, r.previous_id, c.depth + 1,
              r.bytes, r.input_items, r.output_items, r.largest_input_bytes, r.largest_output_bytes
            FROM chain c
            JOIN stored_responses r ON r.id = c.previous_id
            WHERE r.user_id = ${userId}::uuid AND r.expires_at > ${now} AND c.depth < ${responsesMax}
          )
          SELECT id AS "id", previous_id AS "previousId", depth AS "depth", bytes AS "bytes",
            input_items AS "inputItems", output_items AS "outputItems",
            largest_input_bytes AS "largestInputBytes", largest_output_bytes AS "largestOutputBytes"
          FROM chain
          ORDER BY depth DESC`;
        const [oldest] = rows;
        if (oldest === undefined) return undefined;
        const isFull = oldest.depth >= responsesMax;
        const missing = oldest.previousId === null ? 'nothing' : isFull ? 'too-long' : 'deleted';
        const responses = rows.map(({ depth: _depth, ...size }) => size);
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

    removeBeyond: (userId, storedBytesMax) =>
      connection.run(async (queries) => {
        // Somewhat more than needed, so that not every request of a user at the limit has to sort the responses.
        const slack = Math.floor(storedBytesMax / SLACK_PARTS);
        await queries.$executeRaw`
          DELETE FROM stored_responses WHERE id IN (
            SELECT oldest_first.id
            FROM stored_bytes s, LATERAL (
              SELECT id, sum(bytes) OVER (
                ORDER BY created_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
              ) AS bytes_before
              FROM stored_responses WHERE user_id = s.user_id
            ) AS oldest_first
            WHERE s.user_id = ${userId}::uuid
              AND s.conversations + s.responses > ${storedBytesMax}::bigint
              AND coalesce(oldest_first.bytes_before, 0)
                < s.conversations + s.responses - ${storedBytesMax}::bigint + ${slack}::bigint
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
