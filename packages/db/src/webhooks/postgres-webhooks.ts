import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from '@model-gateway/contracts';
import type { Webhook, WebhookStore } from '@model-gateway/webhooks';
import { z } from 'zod';
import { holdGroup } from '../accounts/postgres-groups.ts';
import type { Connection, Queries } from '../connection/connection.ts';
import type { Prisma, Webhook as Row } from '../generated/client.ts';
import type { SigningSecrets } from './signing-secrets.ts';

const eventsSchema = z.array(z.enum(WEBHOOK_EVENTS));
const formatSchema = z.enum(WEBHOOK_FORMATS);

/** Webhooks in Postgres, with their signing secrets encrypted. */
export function createPostgresWebhooks(
  connection: Connection,
  secrets: SigningSecrets,
): WebhookStore {
  return {
    create: ({ secret, events, ...webhook }, countMax) =>
      connection.transaction(async (queries) => {
        const { groupId } = webhook;
        if (!(await holdOwner(queries, groupId))) return 'gone';
        if ((await queries.webhook.count({ where: { groupId } })) >= countMax) return 'too many';
        await queries.webhook.create({
          data: { ...webhook, events: [...events], secret: secrets.seal(secret, webhook.id) },
          select: { id: true },
        });
        return 'created';
      }),

    save: ({ id, secret, events, url, format, groupId, ...created }, { keepsSecret }) =>
      connection.transaction(async (queries) => {
        if (!(await holdOwner(queries, groupId))) return false;
        const same = await queries.webhook.findMany({
          where: { OR: [{ id }, { url, groupId }] },
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          select: { id: true, secret: true },
        });
        const replaced = same.find((one) => one.id === id) ?? same[0];
        const kept =
          keepsSecret && replaced !== undefined
            ? secrets.open(replaced.secret, replaced.id)
            : undefined;
        const sealed = secrets.seal(kept ?? secret, id);
        const changed = { url, format, events: [...events], secret: sealed };
        await queries.webhook.upsert({
          where: { id },
          create: { id, groupId, ...created, ...changed },
          update: changed,
          select: { id: true },
        });
        if (replaced !== undefined && replaced.id !== id)
          await queries.eventDelivery.updateMany({
            where: { webhookId: replaced.id },
            data: { webhookId: id },
          });
        await queries.webhook.deleteMany({ where: { url, groupId, id: { not: id } } });
        return true;
      }),

    find: (id) =>
      connection.run(async (queries) => {
        const row = await queries.webhook.findUnique({ where: { id } });
        return row === null ? undefined : toWebhook(row);
      }),

    list: ({ groupId, administratorId, after, countMax }) =>
      connection.run(async (queries) => {
        const rows = await queries.webhook.findMany({
          where: {
            ...(groupId === undefined ? {} : { groupId }),
            ...(administratorId === undefined ? {} : { group: administeredBy(administratorId) }),
          },
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
          take: countMax + 1,
          ...(after === undefined ? {} : { cursor: { id: after }, skip: 1 }),
        });
        return {
          webhooks: rows.slice(0, countMax).map(toWebhook),
          hasMore: rows.length > countMax,
        };
      }),

    remove: (id) =>
      connection.run(async (queries) => {
        const { count } = await queries.webhook.deleteMany({ where: { id } });
        return count > 0;
      }),
  };
}

/** Until the end of the transaction no other one adds a webhook of the same owner. False when the group does not exist. */
async function holdOwner(queries: Queries, groupId: string | null): Promise<boolean> {
  const lock = `webhooks of ${groupId ?? 'the platform'}`;
  await queries.$executeRaw`SELECT pg_advisory_xact_lock(hashtext(${lock}))`;
  return groupId === null || holdGroup(queries, groupId);
}

/** The owner is a member too, with the role `admin`. */
const administeredBy = (userId: string): Prisma.GroupWhereInput => ({
  members: { some: { userId, role: 'admin', isActive: true } },
});

function toWebhook({ id, groupId, url, events, format, createdAt }: Row): Webhook {
  return {
    id,
    groupId,
    url,
    events: eventsSchema.parse(events),
    format: formatSchema.parse(format),
    createdAt,
  };
}
