import type { EventSources } from '@model-gateway/webhooks';
import type { Connection } from '../connection/connection.ts';

const EVENTS_MAX = 500;
const DAY_SECS = 86_400;

/** What is stored in Postgres and becomes an event. */
export function createPostgresEventSources(connection: Connection): EventSources {
  return {
    // Taking a threshold and storing its event is one statement: neither is lost, and other workers skip what is taken.
    addBudgetThresholds: () =>
      connection.run(async (queries) => {
        const added = await queries.$executeRaw`
          WITH taken AS (
            SELECT key_id, period, start, percent FROM budget_thresholds
            WHERE published_at IS NULL ORDER BY created_at LIMIT ${EVENTS_MAX}
            FOR UPDATE SKIP LOCKED
          ), published AS (
            UPDATE budget_thresholds threshold SET published_at = clock_timestamp()
            FROM taken
            WHERE threshold.key_id = taken.key_id AND threshold.period = taken.period
              AND threshold.start = taken.start AND threshold.percent = taken.percent
            RETURNING threshold.*
          )
          INSERT INTO outbox_events (id, key, type, group_id, user_id, data, created_at)
          SELECT gen_random_uuid(),
            concat_ws(':', 'budget.threshold', key.id, published.period, published.start, published.percent,
              published.budget_usd),
            'budget.threshold', key.group_id, key.user_id,
            jsonb_build_object(
              'key_id', key.id, 'key_name', key.name, 'user_id', key.user_id, 'group_id', key.group_id,
              'percent', published.percent, 'period', published.period, 'start', published.start,
              'budget_usd', published.budget_usd, 'spent_usd', published.spent_usd),
            published.created_at
          FROM published JOIN api_keys key ON key.id = published.key_id
          ORDER BY published.created_at, key.id, published.percent
          ON CONFLICT (key) DO NOTHING`;
        return added > 0;
      }),

    addExpiringKeys: (now, days) =>
      connection.run(async (queries) => {
        const at = now.toISOString();
        await queries.$executeRaw`
          INSERT INTO outbox_events (id, key, type, group_id, data)
          SELECT gen_random_uuid(),
            concat_ws(':', 'key.expiring', key.id, extract(epoch FROM key.expires_at), due.days),
            'key.expiring', key.group_id,
            jsonb_build_object(
              'key_id', key.id, 'key_name', key.name, 'user_id', key.user_id, 'group_id', key.group_id,
              'expires_at', to_char(key.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
              'days', due.days)
          FROM api_keys key
          JOIN users account ON account.id = key.user_id AND account.is_active
          CROSS JOIN LATERAL (
            SELECT min(days) AS days FROM unnest(${[...days]}::integer[]) AS days
            WHERE key.expires_at <= ${at}::timestamptz + make_interval(secs => days * ${DAY_SECS})
          ) AS due
          WHERE key.expires_at > ${at}::timestamptz AND key.revoked_at IS NULL
            AND due.days IS NOT NULL
            AND key.created_at < key.expires_at - make_interval(secs => due.days * ${DAY_SECS})
          ON CONFLICT (key) DO NOTHING`;
      }),

    nodes: () =>
      connection.run(async (queries) => {
        const rows = await queries.agentNode.findMany({
          select: { id: true, name: true, connectionId: true, lastHeartbeatAt: true },
        });
        return rows.map(({ id, name, connectionId, lastHeartbeatAt }) => ({
          id,
          name,
          isConnected: connectionId !== null,
          lastHeartbeatAt,
        }));
      }),
  };
}
