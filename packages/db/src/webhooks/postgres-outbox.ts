import { newId } from '@model-gateway/kernel';
import type { EventOutbox, NewEvent } from '@model-gateway/webhooks';
import type { Connection, Queries } from '../connection/connection.ts';
import { storableJson } from '../connection/storable-text.ts';
import { publishEvents } from './publish-events.ts';

/** Of one value of an event: texts that come from elsewhere can be long. */
const TEXT_CHARS_MAX = 1_000;
const REMOVED_MAX = 10_000;

/** Events in Postgres, until their deliveries are made. */
export function createPostgresOutbox(connection: Connection): EventOutbox {
  return {
    add: (event) => connection.run((queries) => addEvent(queries, event)),

    addChange: (subject, state, eventOf) =>
      connection.transaction(async (queries) => {
        await queries.$executeRaw`SELECT pg_advisory_xact_lock(hashtext(${subject}))`;
        const before = await queries.reportedState.findUnique({ where: { subject } });
        if (before?.state === state) return false;
        const values = { state, changedAt: new Date() };
        await queries.reportedState.upsert({
          where: { subject },
          create: { subject, ...values },
          update: values,
          select: { subject: true },
        });
        const event = eventOf(before?.state);
        if (event !== undefined) await addEvent(queries, event);
        return true;
      }),

    publish: async (options) =>
      (await hasUnpublished(connection)) &&
      connection.transaction((queries) => publishEvents(queries, options)),

    removeOld: (deliveriesBefore, eventsBefore) =>
      connection.run(async (queries) => {
        const deliveries = await queries.$executeRaw`
          DELETE FROM event_deliveries WHERE id IN (
            SELECT id FROM event_deliveries WHERE finished_at < ${deliveriesBefore.toISOString()}::timestamptz
            LIMIT ${REMOVED_MAX})`;
        const events = await queries.$executeRaw`
          DELETE FROM outbox_events WHERE id IN (
            SELECT id FROM outbox_events
            WHERE published_at < ${eventsBefore.toISOString()}::timestamptz LIMIT ${REMOVED_MAX})`;
        return deliveries + events > 0;
      }),
  };
}

/** Mostly there are none, and then one query says so. */
async function hasUnpublished(connection: Connection): Promise<boolean> {
  const found = await connection.run(
    (queries) => queries.$queryRaw<readonly unknown[]>`
      SELECT 1 FROM outbox_events WHERE published_at IS NULL LIMIT 1`,
  );
  return found.length > 0;
}

async function addEvent(queries: Queries, event: NewEvent): Promise<boolean> {
  const { id = newId(), key, type, groupId, userId = null, webhookId = null, data } = event;
  const stored = await queries.$executeRaw`
    INSERT INTO outbox_events (id, key, type, group_id, user_id, webhook_id, data)
    VALUES (${id}::uuid, ${key}, ${type}, ${groupId}::uuid, ${userId}::uuid, ${webhookId}::uuid,
      ${storableJson(shortened(data))}::jsonb)
    ON CONFLICT (key) DO NOTHING`;
  return stored > 0;
}

function shortened(data: NewEvent['data']): Record<string, unknown> {
  const short = (value: unknown): unknown =>
    typeof value === 'string' ? value.slice(0, TEXT_CHARS_MAX) : value;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, short(value)]));
}
