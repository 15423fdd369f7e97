import type { MemoryEvent, MemoryEventStore } from '@model-gateway/inference';
import type { Connection } from '../connection/connection.ts';

/** The recent events of long-term memory in Postgres. */
export function createPostgresMemoryEvents(connection: Connection): MemoryEventStore {
  return {
    append: (events, keptMax) =>
      connection.run(async (queries) => {
        const rows = events.map(({ userId, at, kind, nodeIds, detail }) => ({
          user_id: userId,
          at: at.toISOString(),
          kind,
          node_ids: nodeIds.map(storable),
          detail: detail === null ? null : storable(detail),
        }));
        // The statement does not see the rows it adds, so it keeps that many fewer of the older ones. Rows that another
        // process is deleting are skipped, so that neither waits.
        await queries.$executeRaw`
          WITH given AS (
            SELECT g.*
            FROM ROWS FROM (
              jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
                AS (user_id uuid, at timestamptz, kind text, node_ids text[], detail text)
            ) WITH ORDINALITY AS g (user_id, at, kind, node_ids, detail, position)
            JOIN users ON users.id = g.user_id AND users.erased_at IS NULL
          ),
          added AS (
            INSERT INTO memory_events (user_id, at, kind, node_ids, detail)
            SELECT user_id, at, kind, node_ids, detail FROM given ORDER BY position
          ),
          outdated AS (
            SELECT counts.user_id, (
              SELECT id FROM memory_events kept
              WHERE kept.user_id = counts.user_id
              ORDER BY id DESC
              OFFSET greatest(${keptMax} - counts.added, 0) LIMIT 1
            ) AS newest_id
            FROM (SELECT user_id, count(*)::int AS added FROM given GROUP BY user_id) counts
          )
          DELETE FROM memory_events WHERE id IN (
            SELECT old.id FROM memory_events old
            JOIN outdated ON old.user_id = outdated.user_id AND old.id <= outdated.newest_id
            FOR UPDATE OF old SKIP LOCKED
          )`;
      }),

    newest: (userId, countMax) =>
      connection.run(async (queries) => {
        const rows = await queries.memoryEvent.findMany({
          where: { userId },
          orderBy: { id: 'desc' },
          take: countMax,
        });
        return rows.map(({ at, kind, nodeIds, detail }) => ({
          at,
          kind: kindOf(kind),
          nodeIds,
          detail,
        }));
      }),
  };
}

/** Postgres stores neither a NUL nor an unpaired surrogate in a text. */
const storable = (text: string): string =>
  Buffer.from(text.replaceAll('\0', ''), 'utf8').toString('utf8');

const KINDS: readonly MemoryEvent['kind'][] = ['recall', 'write', 'delete', 'error'];

/** The table allows no other kinds. */
const kindOf = (text: string): MemoryEvent['kind'] =>
  KINDS.find((kind) => kind === text) ?? 'error';
