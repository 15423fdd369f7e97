import type { RequestLogStore } from '@model-gateway/billing';
import type { Connection } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { storableText } from '../connection/storable-text.ts';
import { erasedUser } from './erased-user.ts';

const DAY_MS = 86_400_000;

/** What the request log has besides the usage rows, in Postgres. */
export function createPostgresRequestLogStore(connection: Connection): RequestLogStore {
  return {
    addBodies: (bodies) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          INSERT INTO request_bodies (id, created_at, user_id, request, answer)
          SELECT body.* FROM unnest(
            ${bodies.map(({ id }) => id)}::uuid[],
            ${bodies.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
            ${bodies.map(({ userId }) => userId)}::uuid[],
            ${bodies.map(({ request }) => text(request))}::text[],
            ${bodies.map(({ answer }) => text(answer))}::text[]
          ) AS body (id, created_at, user_id, request, answer)
          WHERE NOT EXISTS (${erasedUser(Prisma.sql`body`)})
          ON CONFLICT DO NOTHING`;
      }),

    removeRows: (before, limit) =>
      connection.run(async (queries) => {
        const day = new Date(Math.floor(before.getTime() / DAY_MS) * DAY_MS);
        // Before the rows go, so that a check of the sums never misses rows that it expects.
        await queries.$executeRaw`
          UPDATE request_log_state SET kept_since = ${day}::timestamptz
          WHERE kept_since IS NULL OR kept_since < ${day}::timestamptz`;
        const failures = await queries.$executeRaw`
          DELETE FROM request_failures WHERE id IN (
            SELECT id FROM request_failures WHERE created_at < ${day}::timestamptz
            ORDER BY created_at DESC, id LIMIT ${limit})`;
        const details = await queries.$executeRaw`
          DELETE FROM request_details WHERE id IN (
            SELECT id FROM request_details WHERE created_at < ${day}::timestamptz LIMIT ${limit})`;
        return failures + details;
      }),

    removeBodies: (before, limit) =>
      connection.run(
        (queries) => queries.$executeRaw`
          DELETE FROM request_bodies WHERE id IN (
            SELECT id FROM request_bodies WHERE created_at < ${before}::timestamptz LIMIT ${limit})`,
      ),
  };
}

const text = (value: string | null): string | null => (value === null ? null : storableText(value));
