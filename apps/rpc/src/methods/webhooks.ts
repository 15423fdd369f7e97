import type { User } from '@model-gateway/accounts';
import { ENTRY_NAMES } from '@model-gateway/config-file';
import { invalidParam, ServiceError, type RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';
import { RefusedReceiver } from '@model-gateway/outbound';
import {
  publicEventId,
  webhookNotFound,
  type Delivery,
  type Webhook,
} from '@model-gateway/webhooks';
import { z } from 'zod';
import { TEST } from '../audit/audit-rule.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

type WebhookRecord = RpcResult<'webhooks.list'>['webhooks'][number];

/** Where events are sent: platform admins manage all of them, group admins those of their groups. */
export function createWebhooksMethods({
  webhookRules,
  webhookStore,
  deliveryStore,
  resolveReceiver,
  groupRules: { access },
  runtime,
}: Services): HandlersOf<'webhooks'> {
  const { fileEntries } = runtime.router;
  const webhookRecord = (webhook: Webhook): WebhookRecord => ({
    ...recordOf(webhook),
    ...fileEntries.markOf('webhooks', entryName(webhook)),
  });

  /** Without a user, the caller has the admin token. */
  async function authorizeOwner(user: User | undefined, groupId: string | null): Promise<void> {
    if (user === undefined) return;
    if (groupId !== null) await access.authorizeWebhooks(user, groupId);
    else if (!user.isAdmin)
      throw new ServiceError(
        'admin_required',
        'webhooks of the platform are for platform admins; name a group that you administer',
      );
  }

  async function findManaged(webhookId: string, user: User | undefined): Promise<Webhook> {
    const webhook = await webhookStore.find(webhookId);
    if (webhook === undefined) throw webhookNotFound();
    await authorizeOwner(user, webhook.groupId).catch((error: unknown) => {
      if (error instanceof ServiceError && REFUSALS.has(error.code)) throw webhookNotFound();
      throw error;
    });
    return webhook;
  }

  async function assertReceiver(url: string): Promise<void> {
    await resolveReceiver(new URL(url)).catch((error: unknown) => {
      if (!(error instanceof RefusedReceiver)) throw error;
      throw invalidParam('url', error.message, error);
    });
  }

  return {
    'webhooks.create': {
      audit: {
        target: ({ changed }) => {
          const id = createdId(changed);
          return id && `webhook:${id}`;
        },
        state: ({ changed }, stores) => {
          const id = createdId(changed);
          return id && webhookState(id, stores);
        },
      },
      entry: 'handler',
      handle: async ({ url, events, format, group_id }, { user, change }) => {
        const groupId = group_id ?? null;
        await authorizeOwner(user, groupId);
        await fileEntries.assertChangeable('webhooks', entryName({ url, groupId }));
        await assertReceiver(url);
        const createdById = user?.id ?? null;
        const { webhook, secret } = await change((scope) =>
          scope.webhookRules.create({ url, events, format, groupId, createdById }),
        );
        return { ...webhookRecord(webhook), secret };
      },
    },
    'webhooks.list': async ({ group_id, after, limit }, { user }) => {
      if (group_id !== undefined && group_id !== null) await authorizeOwner(user, group_id);
      const seesAll = user === undefined || user.isAdmin;
      const { webhooks, hasMore } = await webhookStore.list({
        groupId: group_id ?? undefined,
        administratorId: seesAll ? undefined : user.id,
        after: after ?? undefined,
        countMax: limit,
      });
      return {
        webhooks: webhooks.map(webhookRecord),
        has_more: hasMore,
        after: (hasMore ? webhooks.at(-1)?.id : undefined) ?? null,
      };
    },
    'webhooks.remove': {
      audit: {
        target: ({ params }) => `webhook:${params.webhook_id}`,
        state: ({ params }, stores) => webhookState(params.webhook_id, stores),
      },
      handle: async ({ webhook_id }, { user }) => {
        const webhook = await findManaged(webhook_id, user);
        await fileEntries.assertChangeable('webhooks', entryName(webhook));
        await webhookRules.remove(webhook.id);
        return { ok: true };
      },
    },
    'webhooks.deliveries': async ({ webhook_id, status, before, limit }, { user }) => {
      const { id: webhookId } = await findManaged(webhook_id, user);
      const { deliveries, hasMore } = await deliveryStore.list({
        webhookId,
        status,
        before: before ?? undefined,
        countMax: limit,
      });
      return {
        deliveries: deliveries.map(deliveryRecord),
        has_more: hasMore,
        before: (hasMore ? deliveries.at(-1)?.id : undefined) ?? null,
      };
    },
    'webhooks.test': {
      audit: TEST,
      handle: async ({ webhook_id }, { user }) => ({
        event_id: await webhookRules.test(await findManaged(webhook_id, user)),
      }),
    },
  };
}

const created = z.object({ webhook: z.object({ id: z.string() }) });

/** The handler reports the webhook; before that it is not known. */
const createdId = (changed: unknown): string | undefined =>
  created.safeParse(changed).data?.webhook.id;

/** Without the path and query of the URL, which may be a secret of the receiver. */
async function webhookState(webhookId: string, { webhooks }: DatabaseStores) {
  const webhook = await webhooks.find(webhookId);
  if (webhook === undefined) return undefined;
  const { url, events, format, groupId } = webhook;
  return { origin: new URL(url).origin, events, format, group_id: groupId };
}

/** The refusals that would tell a caller that a webhook exists. */
const REFUSALS: ReadonlySet<string> = new Set(['admin_required', 'not_found']);

const entryName = ({ url, groupId }: Pick<Webhook, 'url' | 'groupId'>): string =>
  ENTRY_NAMES.webhooks({ url, group_id: groupId });

const recordOf = ({ id, url, events, format, groupId, createdAt }: Webhook): WebhookRecord => ({
  id,
  url,
  events: [...events],
  format,
  group_id: groupId,
  created_at: createdAt.toISOString(),
});

const deliveryRecord = (
  delivery: Delivery,
): RpcResult<'webhooks.deliveries'>['deliveries'][number] => ({
  id: delivery.id,
  event_id: publicEventId(delivery.eventId),
  event: delivery.type,
  status: delivery.status,
  attempts: delivery.attempts,
  next_attempt_at: delivery.status === 'pending' ? delivery.nextAttemptAt.toISOString() : null,
  last_attempt_at: delivery.lastAttemptAt?.toISOString() ?? null,
  response_status: delivery.responseStatus,
  error: delivery.error,
  created_at: delivery.createdAt.toISOString(),
  finished_at: delivery.finishedAt?.toISOString() ?? null,
});
