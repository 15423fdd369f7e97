import type { EventOutbox } from '@model-gateway/webhooks';
import type { Queries } from '../connection/connection.ts';

type PublishOptions = Parameters<EventOutbox['publish']>[0];

const EVENTS_MAX = 100;

/** Makes the deliveries of the oldest events. Other workers skip the events that this transaction has taken. */
export async function publishEvents(queries: Queries, options: PublishOptions): Promise<boolean> {
  const now = options.now.toISOString();
  const taken = await queries.$queryRaw<{ readonly id: string }[]>`
    SELECT id FROM outbox_events WHERE published_at IS NULL
    ORDER BY created_at LIMIT ${EVENTS_MAX} FOR UPDATE SKIP LOCKED`;
  if (taken.length === 0) return false;
  const ids = taken.map(({ id }) => id);
  await addWebhookDeliveries(queries, ids, options);
  if (options.withMail) await addMailDeliveries(queries, ids, now);
  await queries.$executeRaw`
    UPDATE outbox_events SET published_at = ${now}::timestamptz WHERE id = ANY(${ids}::uuid[])`;
  return true;
}

/** A webhook of the platform receives the events of all groups. */
async function addWebhookDeliveries(
  queries: Queries,
  ids: readonly string[],
  { now, pendingMax }: PublishOptions,
): Promise<void> {
  const at = now.toISOString();
  await queries.$executeRaw`
    WITH waiting AS (
      SELECT webhook.id, webhook.events, webhook.group_id,
        (SELECT count(*) FROM event_deliveries pending
          WHERE pending.webhook_id = webhook.id AND pending.status = 'pending') >= ${pendingMax} AS is_full
      FROM webhooks webhook
    )
    INSERT INTO event_deliveries
      (event_id, webhook_id, status, next_attempt_at, created_at, finished_at, error)
    SELECT event.id, waiting.id,
      CASE WHEN waiting.is_full THEN 'failed' ELSE 'pending' END,
      ${at}::timestamptz, ${at}::timestamptz,
      CASE WHEN waiting.is_full THEN ${at}::timestamptz END,
      CASE WHEN waiting.is_full THEN 'too many deliveries wait for this webhook' END
    FROM outbox_events event
    JOIN waiting ON waiting.id = event.webhook_id
      OR (event.webhook_id IS NULL AND event.type = ANY(waiting.events)
        AND (waiting.group_id IS NULL OR waiting.group_id = event.group_id))
    WHERE event.id = ANY(${ids}::uuid[])
    ON CONFLICT DO NOTHING`;
}

async function addMailDeliveries(
  queries: Queries,
  ids: readonly string[],
  at: string,
): Promise<void> {
  await queries.$executeRaw`
    INSERT INTO event_deliveries (event_id, user_id, next_attempt_at, created_at)
    SELECT event.id, account.id, ${at}::timestamptz, ${at}::timestamptz
    FROM outbox_events event
    JOIN users account ON account.id = event.user_id
    WHERE event.id = ANY(${ids}::uuid[]) AND account.is_active AND account.erased_at IS NULL
    ON CONFLICT DO NOTHING`;
}
