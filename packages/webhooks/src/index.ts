export { createDeliver, type SendRequest } from './deliver.ts';
export type { Mail, SendMail } from './event-mail.ts';
export { publicEventId } from './event-body.ts';
export type {
  ClaimedDelivery,
  Delivery,
  DeliveryStatus,
  DeliveryStore,
  EventOutbox,
  EventType,
  NewEvent,
  Receiver,
} from './event-store.ts';
export type { EventSources } from './event-sources.ts';
export { createQuotaEvents } from './quota-events.ts';
export { createWatch } from './watch.ts';
export { newSigningSecret } from './signature.ts';
export { assertGroupEvents, createWebhooks, webhookNotFound, type Webhooks } from './webhooks.ts';
export type { Webhook, WebhookStore } from './webhook-store.ts';
