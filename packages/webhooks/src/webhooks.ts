import { invalidParam, ServiceError } from '@model-gateway/contracts';
import { newId, type Clock } from '@model-gateway/kernel';
import { publicEventId } from './event-body.ts';
import type { DeliveryStore, EventOutbox } from './event-store.ts';
import { newSigningSecret } from './signature.ts';
import type { Webhook, WebhookEvent, WebhookFormat, WebhookStore } from './webhook-store.ts';

interface WebhookRequest {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly format: WebhookFormat;
  readonly groupId: string | null;
  readonly createdById: string | null;
}

/** The rules about webhooks. Callers check who may manage them. */
export interface Webhooks {
  create(request: WebhookRequest): Promise<{ readonly webhook: Webhook; readonly secret: string }>;
  remove(id: string): Promise<void>;
  /** Queues a test event; returns its id as the receiver sees it. */
  test(webhook: Webhook): Promise<string>;
}

interface WebhooksDependencies {
  readonly webhooks: WebhookStore;
  readonly outbox: Pick<EventOutbox, 'add'>;
  readonly deliveries: Pick<DeliveryStore, 'pendingTests'>;
  readonly clock: Clock;
}

const WEBHOOKS_PER_GROUP_MAX = 20;
const WEBHOOKS_OF_PLATFORM_MAX = 100;
const PENDING_TESTS_MAX = 5;

/** Events that belong to the platform alone. */
const PLATFORM_EVENTS: ReadonlySet<WebhookEvent> = new Set([
  'quota.exceeded',
  'backend.unhealthy',
  'backend.healthy',
  'node.offline',
  'usage.halted',
]);

export function createWebhooks(dependencies: WebhooksDependencies): Webhooks {
  const { webhooks, outbox, deliveries, clock } = dependencies;
  return {
    async create({ createdById, ...request }) {
      assertGroupEvents(request);
      const webhook: Webhook = {
        id: newId(),
        ...request,
        events: [...new Set(request.events)],
        createdAt: new Date(clock.now()),
      };
      const secret = newSigningSecret();
      const countMax = request.groupId === null ? WEBHOOKS_OF_PLATFORM_MAX : WEBHOOKS_PER_GROUP_MAX;
      switch (await webhooks.create({ ...webhook, secret, createdById }, countMax)) {
        case 'created':
          return { webhook, secret };
        case 'gone':
          throw new ServiceError('not_found', 'group not found');
        case 'too many':
          throw new ServiceError(
            'rate_limit_exceeded',
            `there are ${countMax} webhooks already; remove one first`,
          );
      }
    },
    async remove(id) {
      if (!(await webhooks.remove(id))) throw webhookNotFound();
    },
    async test({ id, groupId }) {
      if ((await deliveries.pendingTests(id)) >= PENDING_TESTS_MAX)
        throw new ServiceError(
          'rate_limit_exceeded',
          `${PENDING_TESTS_MAX} tests of this webhook wait for their delivery; wait until one has ended`,
        );
      const eventId = newId();
      await outbox.add({
        id: eventId,
        key: `webhook.test:${eventId}`,
        type: 'webhook.test',
        groupId,
        webhookId: id,
        data: { webhook_id: id },
      });
      return publicEventId(eventId);
    },
  };
}

/** The same error for a missing webhook and for one that the caller may not see. */
export const webhookNotFound = (): ServiceError =>
  new ServiceError('not_found', 'webhook not found');

/** Throws for a webhook of a group that would receive events of the platform. */
export function assertGroupEvents({
  groupId,
  events,
}: Pick<WebhookRequest, 'groupId' | 'events'>): void {
  const wrong = groupId === null ? undefined : events.find((event) => PLATFORM_EVENTS.has(event));
  if (wrong !== undefined) throw invalidParam('events', `${wrong} is not an event of a group`);
}
