import { WEBHOOK_FORMATS } from '@model-gateway/contracts';
import type {
  ClaimedDelivery,
  Delivery,
  DeliveryStatus,
  DeliveryStore,
  EventType,
  Receiver,
} from '@model-gateway/webhooks';
import { z } from 'zod';
import type { Connection } from '../connection/connection.ts';
import type { EventDelivery, OutboxEvent, User, Webhook } from '../generated/client.ts';
import { storableText } from '../connection/storable-text.ts';
import type { SigningSecrets } from './signing-secrets.ts';

const DUE_MAX = 1_000;

const formatSchema = z.enum(WEBHOOK_FORMATS);
const dataSchema = z.record(z.string(), z.unknown());

type ClaimedRow = EventDelivery & {
  readonly event: OutboxEvent;
  readonly webhook: Webhook | null;
  readonly user: Pick<User, 'email' | 'name'> | null;
};

/** Deliveries in Postgres. */
export function createPostgresDeliveries(
  connection: Connection,
  secrets: SigningSecrets,
): DeliveryStore {
  function receiverOf({ webhook, user }: ClaimedRow): Receiver | undefined {
    if (webhook !== null) {
      const { id: webhookId, groupId, url, format, secret } = webhook;
      return {
        kind: 'webhook',
        webhookId,
        groupId,
        url,
        format: formatSchema.parse(format),
        secret: secrets.open(secret, webhookId),
      };
    }
    return user === null ? undefined : { kind: 'mail', email: user.email, name: user.name };
  }

  function toClaimed(row: ClaimedRow): ClaimedDelivery | undefined {
    const { event } = row;
    const receiver = receiverOf(row);
    return (
      receiver && {
        id: row.id,
        attempts: row.attempts,
        event: {
          id: event.id,
          // Only events of this service are stored.
          type: event.type as EventType,
          at: event.createdAt,
          data: dataSchema.parse(event.data),
        },
        receiver,
      }
    );
  }

  return {
    list: ({ webhookId, status, before, countMax }) =>
      connection.run(async (queries) => {
        const rows = await queries.eventDelivery.findMany({
          where: { webhookId, ...(status === undefined ? {} : { status }) },
          include: { event: { select: { type: true } } },
          orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
          take: countMax + 1,
          ...(before === undefined ? {} : { cursor: { id: before }, skip: 1 }),
        });
        return {
          deliveries: rows
            .slice(0, countMax)
            .map(({ event, ...row }) => ({ ...toDelivery(row), type: event.type })),
          hasMore: rows.length > countMax,
        };
      }),

    pendingTests: (webhookId) =>
      connection.run(async (queries) => {
        const [counted] = await queries.$queryRaw<{ readonly count: number }[]>`
          SELECT (
            (SELECT count(*) FROM outbox_events
              WHERE published_at IS NULL AND webhook_id = ${webhookId}::uuid) +
            (SELECT count(*) FROM event_deliveries delivery
              JOIN outbox_events event ON event.id = delivery.event_id
              WHERE delivery.webhook_id = ${webhookId}::uuid AND delivery.status = 'pending'
                AND event.webhook_id = delivery.webhook_id)
          )::integer AS count`;
        return counted?.count ?? 0;
      }),

    due: (now, perReceiverMax) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<{ readonly id: string }[]>`
          SELECT id FROM (
            SELECT id, next_attempt_at,
              row_number() OVER (PARTITION BY webhook_id ORDER BY next_attempt_at, id) AS place
            FROM event_deliveries
            WHERE status = 'pending' AND next_attempt_at <= ${now.toISOString()}::timestamptz
          ) AS placed
          WHERE place <= ${perReceiverMax}
          ORDER BY place, next_attempt_at, id
          LIMIT ${DUE_MAX}`;
        return rows.map(({ id }) => id);
      }),

    peek: (id) =>
      connection.run(async (queries) => {
        const row = await queries.eventDelivery.findFirst({
          where: { id, status: 'pending' },
          select: { webhookId: true, nextAttemptAt: true, webhook: { select: { groupId: true } } },
        });
        if (row === null) return undefined;
        const { webhookId, nextAttemptAt, webhook } = row;
        return { webhookId, nextAttemptAt, groupId: webhook?.groupId ?? null };
      }),

    claim: (id, now, leaseUntil) =>
      connection.run(async (queries) => {
        const { count } = await queries.eventDelivery.updateMany({
          where: { id, status: 'pending', nextAttemptAt: { lte: now } },
          data: { attempts: { increment: 1 }, lastAttemptAt: now, nextAttemptAt: leaseUntil },
        });
        if (count === 0) return undefined;
        const row = await queries.eventDelivery.findUnique({
          where: { id },
          include: {
            event: true,
            webhook: true,
            user: { select: { email: true, name: true } },
          },
        });
        return row === null ? undefined : toClaimed(row);
      }),

    end: (id, attempts, { status, at, nextAttemptAt, responseStatus, error }) =>
      connection.run(async (queries) => {
        await queries.eventDelivery.updateMany({
          where: { id, attempts, status: 'pending' },
          data: {
            status,
            nextAttemptAt,
            responseStatus,
            error: error === null ? null : storableText(error),
            finishedAt: status === 'pending' ? null : at,
          },
        });
      }),
  };
}

function toDelivery(row: EventDelivery): Omit<Delivery, 'type'> {
  const { id, eventId, status, attempts, nextAttemptAt, lastAttemptAt } = row;
  const { responseStatus, error, createdAt, finishedAt } = row;
  return {
    id,
    eventId,
    // Only these are stored.
    status: status as DeliveryStatus,
    attempts,
    nextAttemptAt,
    lastAttemptAt,
    responseStatus,
    error,
    createdAt,
    finishedAt,
  };
}
