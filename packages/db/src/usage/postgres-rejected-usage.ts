import type { RejectedUsage, RejectedUsageStore } from '@model-gateway/billing';
import type { Connection } from '../connection/connection.ts';
import { storableText } from '../connection/storable-text.ts';

const ERROR_CHARS_MAX = 2_000;

/** Rejected usage events in Postgres. */
export function createPostgresRejectedUsage(connection: Connection): RejectedUsageStore {
  return {
    add({ id, event, error }) {
      const text = storableText(error).slice(0, ERROR_CHARS_MAX);
      return connection.run(async (queries) => {
        await queries.$executeRaw`
          INSERT INTO rejected_usage (id, event, error)
          VALUES (${storableText(id)}, ${storableText(event)}, ${text})
          ON CONFLICT (id) DO UPDATE SET
            error = excluded.error, attempts = rejected_usage.attempts + 1, last_rejected_at = now()`;
      });
    },
    list: (limit) =>
      connection.run((queries) =>
        queries.rejectedUsage.findMany({
          orderBy: [{ firstRejectedAt: 'asc' }, { id: 'asc' }],
          take: limit,
        }),
      ),
    find: (id) =>
      connection.run(
        async (queries) => (await queries.rejectedUsage.findUnique({ where: { id } })) ?? undefined,
      ),
    take: (id) =>
      connection.run(async (queries) => {
        const [taken] = await queries.$queryRaw<RejectedUsage[]>`
          DELETE FROM rejected_usage WHERE id = ${id}
          RETURNING
            id, event, error, attempts,
            first_rejected_at AS "firstRejectedAt", last_rejected_at AS "lastRejectedAt"`;
        return taken;
      }),
    count: () => connection.run((queries) => queries.rejectedUsage.count()),
  };
}
