import type { RejectedUsage, RejectedUsageStore } from '@model-gateway/billing';
import type { Connection } from '../connection/connection.ts';
import type { Prisma } from '../generated/client.ts';
import { storableText } from '../connection/storable-text.ts';

type Rejected = Pick<RejectedUsage, 'id' | 'event' | 'error'>;

const ERROR_CHARS_MAX = 2_000;

const OLDEST_FIRST: Prisma.RejectedUsageOrderByWithRelationInput[] = [
  { firstRejectedAt: 'asc' },
  { id: 'asc' },
];

/** Rejected usage events in Postgres. */
export function createPostgresRejectedUsage(connection: Connection): RejectedUsageStore {
  /** One that is set aside does not halt again. Returns whether it halts. */
  const store = ({ id, event, error }: Rejected, halts: boolean): Promise<boolean> =>
    connection.run(async (queries) => {
      const text = storableText(error).slice(0, ERROR_CHARS_MAX);
      const [stored] = await queries.$queryRaw<{ readonly halts: boolean }[]>`
        INSERT INTO rejected_usage (id, event, error, halts)
        VALUES (${storableText(id)}, ${storableText(event)}, ${text}, ${halts})
        ON CONFLICT (id) DO UPDATE SET
          error = excluded.error, attempts = rejected_usage.attempts + 1, last_rejected_at = now(),
          halts = rejected_usage.halts AND excluded.halts
        RETURNING halts`;
      return stored?.halts === true;
    });

  return {
    async add(rejected) {
      await store(rejected, false);
    },
    halt: (rejected) => store(rejected, true),
    halting: () =>
      connection.run((queries) =>
        queries.rejectedUsage.findMany({ where: { halts: true }, orderBy: OLDEST_FIRST }),
      ),
    skip: (id) =>
      connection.run(async (queries) => {
        const skipped = await queries.rejectedUsage.updateMany({
          where: { id, halts: true },
          data: { halts: false },
        });
        return skipped.count > 0;
      }),
    list: (limit) =>
      connection.run((queries) =>
        queries.rejectedUsage.findMany({
          where: { halts: false },
          orderBy: OLDEST_FIRST,
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
            id, event, error, attempts, halts,
            first_rejected_at AS "firstRejectedAt", last_rejected_at AS "lastRejectedAt"`;
        return taken;
      }),
    count: () =>
      connection.run((queries) => queries.rejectedUsage.count({ where: { halts: false } })),
  };
}
