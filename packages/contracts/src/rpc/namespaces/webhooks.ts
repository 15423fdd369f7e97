import { z } from 'zod';
import { boundedArray } from '../../bounded-array.ts';
import { entrySource } from '../../entry-source.ts';
import { method } from '../method.ts';
import { clamped, done, record, text, timestamp } from './records.ts';

/** What webhooks can receive. */
export const WEBHOOK_EVENTS = [
  'budget.threshold',
  'quota.exceeded',
  'key.expiring',
  'backend.unhealthy',
  'backend.healthy',
  'node.offline',
  'video.done',
  'video.failed',
  'usage.halted',
] as const;

/** The shapes of a body. */
export const WEBHOOK_FORMATS = ['standard', 'slack'] as const;

const URL_CHARS_MAX = 2048;
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

const event = z.enum(WEBHOOK_EVENTS);
const oneWebhook = z.object({ webhook_id: z.uuid() });

const receiverUrl = text(URL_CHARS_MAX).refine(
  isReceiverUrl,
  'must be an http or https URL without a user name and password',
);

const webhook = record('Webhook', {
  id: z.uuid(),
  url: z.string(),
  events: z.array(event),
  format: z.enum(WEBHOOK_FORMATS),
  /** Null for webhooks of the platform. */
  group_id: z.uuid().nullable(),
  created_at: timestamp,
  source: entrySource,
});

const delivery = record('WebhookDelivery', {
  id: z.uuid(),
  /** The `webhook-id` of the request. */
  event_id: z.string(),
  event: z.string(),
  status: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  /** Null once it has ended. */
  next_attempt_at: timestamp.nullable(),
  last_attempt_at: timestamp.nullable(),
  /** The HTTP status of the last answer. */
  response_status: z.int().nullable(),
  error: z.string().nullable(),
  created_at: timestamp,
  finished_at: timestamp.nullable(),
});

export const webhooksMethods = {
  'webhooks.create': method({
    auth: 'jwt-or-admin-token',
    summary:
      'Send events to a URL; the signing secret is shown only once (platform admins, or group admins for their group).',
    params: z.object({
      url: receiverUrl,
      events: boundedArray(event, { min: 1, max: WEBHOOK_EVENTS.length }),
      format: z.enum(WEBHOOK_FORMATS).default('standard'),
      group_id: z
        .uuid()
        .nullish()
        .describe('only events of this group; without it, of the whole platform'),
    }),
    result: webhook.extend({ secret: z.string() }),
    hasSecretResult: true,
    isExtension: true,
  }),
  'webhooks.list': method({
    auth: 'jwt-or-admin-token',
    summary: 'The webhooks that you may manage, the oldest first.',
    params: z.object({
      group_id: z.uuid().nullish().describe('only those of this group'),
      after: z.uuid().nullish().describe('only webhooks after the one with this id'),
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
    }),
    result: z.object({
      webhooks: z.array(webhook),
      has_more: z.boolean(),
      after: z.uuid().nullable().describe('for the next call, if there are more'),
    }),
    isExtension: true,
  }),
  'webhooks.remove': method({
    auth: 'jwt-or-admin-token',
    summary: 'Remove a webhook with its deliveries.',
    params: oneWebhook,
    result: done,
    isExtension: true,
  }),
  'webhooks.deliveries': method({
    auth: 'jwt-or-admin-token',
    summary: 'What was sent to a webhook, and what waits, the newest first.',
    params: oneWebhook.extend({
      status: z.enum(['pending', 'delivered', 'failed']).optional(),
      before: z.uuid().nullish().describe('only deliveries before the one with this id'),
      limit: clamped(1, LIMIT_MAX).prefault(LIMIT_DEFAULT),
    }),
    result: z.object({
      deliveries: z.array(delivery),
      has_more: z.boolean(),
      before: z.uuid().nullable().describe('for the next call, if there are more'),
    }),
    isExtension: true,
  }),
  'webhooks.test': method({
    auth: 'jwt-or-admin-token',
    summary: 'Send the event `webhook.test` to a webhook; its delivery is listed like any other.',
    params: oneWebhook,
    result: z.object({ event_id: z.string() }),
    isExtension: true,
  }),
};

function isReceiverUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password } = new URL(value);
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
}
