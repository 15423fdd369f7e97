import type { UsageRecord, UsageStore } from '@model-gateway/billing';
import type { UsageEvent } from '@model-gateway/contracts';
import type { Log } from '@model-gateway/kernel';
import type { Connection, Queries } from './connection.ts';
import type { UsageRecord as UsageRow } from './generated/client.ts';

// What an upstream reports is not to be trusted: one absurd number must not keep a whole batch from being written.
const COUNT_MAX = 2_147_483_647;

/** Metered requests in Postgres. */
export function createPostgresUsage(connection: Connection, log: Log): UsageStore {
  const readyMonths = new Set<string>();

  async function ensurePartitions(events: readonly UsageEvent[]): Promise<void> {
    for (const month of new Set(events.map(monthOf))) {
      if (readyMonths.has(month)) continue;
      const rows = await connection.run(
        (queries) =>
          queries.$queryRaw<
            { made: boolean }[]
          >`SELECT usage_records_ensure_partition(${month}::date) AS made`,
      );
      readyMonths.add(month);
      if (rows[0]?.made !== true)
        log.warn({ month }, 'the usage of a month stays in the default partition');
    }
  }

  return {
    async record(events) {
      if (events.length === 0) return 0;
      await ensurePartitions(events);
      return connection.transaction(async (queries) => {
        const added = await insert(queries, events);
        await touchKeys(queries, events);
        return added;
      });
    },

    list: ({ userId, project, limit, offset }) =>
      connection.run(async (queries) => {
        const where = {
          userId,
          ...(project === undefined ? {} : { project, keyId: { not: null } }),
        };
        const [rows, total] = await Promise.all([
          queries.usageRecord.findMany({
            where,
            orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
            take: limit,
            skip: offset,
          }),
          queries.usageRecord.count({ where }),
        ]);
        return { records: rows.map(toRecord), total };
      }),
  };
}

/** Writes what is new; an event that was written before has the same id and time. */
function insert(queries: Queries, events: readonly UsageEvent[]): Promise<number> {
  const column = <Value>(pick: (event: UsageEvent) => Value): Value[] => events.map(pick);
  return queries.$executeRaw`
    INSERT INTO usage_records (
      id, user_id, key_id, group_id, api_key_id, project, model, backend, ref_id,
      prompt_tokens, completion_tokens, total_tokens, cost, created_at
    )
    SELECT * FROM unnest(
      ${column((event) => event.id)}::uuid[],
      ${column((event) => event.user_id)}::uuid[],
      ${column((event) => event.key_id)}::uuid[],
      ${column((event) => event.group_id)}::uuid[],
      ${column((event) => clean(event.api_key_id))}::text[],
      ${column((event) => clean(event.project))}::text[],
      ${column((event) => clean(event.model))}::text[],
      ${column((event) => clean(event.backend))}::text[],
      ${column((event) => clean(event.ref_id))}::text[],
      ${column((event) => count(event.prompt_tokens))}::integer[],
      ${column((event) => count(event.completion_tokens))}::integer[],
      ${column((event) => count(event.total_tokens))}::integer[],
      ${column((event) => event.cost)}::double precision[],
      ${column((event) => event.created_at)}::timestamptz[]
    )
    ON CONFLICT DO NOTHING`;
}

/** Says when the keys were last used, at most once a minute each. A key that somebody else is just writing is left to them. */
async function touchKeys(queries: Queries, events: readonly UsageEvent[]): Promise<void> {
  const used = events.filter(({ key_id }) => key_id !== null);
  if (used.length === 0) return;
  await queries.$executeRaw`
    WITH used AS (
      SELECT key_id, max(used_at) AS used_at
      FROM unnest(
        ${used.map((event) => event.key_id)}::uuid[],
        ${used.map((event) => event.created_at)}::timestamptz[]
      ) AS event (key_id, used_at)
      GROUP BY key_id
    ), stale AS (
      SELECT k.id, used.used_at
      FROM api_keys k JOIN used ON used.key_id = k.id
      WHERE k.last_used_at IS NULL OR k.last_used_at < used.used_at - INTERVAL '1 minute'
      FOR NO KEY UPDATE OF k SKIP LOCKED
    )
    UPDATE api_keys k SET last_used_at = stale.used_at FROM stale WHERE k.id = stale.id`;
}

const monthOf = (event: UsageEvent): string => `${event.created_at.slice(0, 7)}-01`;

const count = (value: number): number => Math.min(value, COUNT_MAX);

// Postgres keeps no NUL characters, and refuses the whole batch over one.
const clean = (value: string | null): string | null => value?.replaceAll('\u0000', '') ?? null;

function toRecord(row: UsageRow): UsageRecord {
  const { groupId: _groupId, accountType, ...record } = row;
  return {
    ...record,
    accountType: accountType === 'user' || accountType === 'group' ? accountType : null,
  };
}
