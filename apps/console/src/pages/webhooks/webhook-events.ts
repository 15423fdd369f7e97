import type { RpcInput } from '@model-gateway/contracts';

export type WebhookEvent = RpcInput<'webhooks.create'>['events'][number];

/** What can be sent, and whether it is about the whole platform only. */
const WEBHOOK_EVENTS: Readonly<Record<WebhookEvent, 'group' | 'platform'>> = {
  'budget.threshold': 'group',
  'quota.exceeded': 'platform',
  'key.expiring': 'group',
  'backend.unhealthy': 'platform',
  'backend.healthy': 'platform',
  'node.offline': 'platform',
  'video.done': 'group',
  'video.failed': 'group',
  'usage.halted': 'platform',
};

/** The events that a webhook of the whole platform, or of a group, can receive. */
export const eventsOf = (groupId: string | undefined): WebhookEvent[] =>
  (Object.keys(WEBHOOK_EVENTS) as WebhookEvent[]).filter(
    (event) => groupId === undefined || WEBHOOK_EVENTS[event] === 'group',
  );

/** Whether the service can send to an address. */
export function isReceiver(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
}
