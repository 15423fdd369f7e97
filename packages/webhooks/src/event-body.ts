import type { StoredEvent } from './event-store.ts';
import { eventText } from './event-text.ts';
import type { WebhookFormat } from './webhook-store.ts';

/** The id of an event in requests: the same for every attempt and every receiver. */
export const publicEventId = (id: string): string => `evt_${id}`;

/** The body of a request. */
export function eventBody(event: StoredEvent, format: WebhookFormat): string {
  switch (format) {
    case 'standard':
      return JSON.stringify({
        type: event.type,
        timestamp: event.at.toISOString(),
        data: event.data,
      });
    case 'slack':
      return JSON.stringify({ text: escapeForSlack(`${event.type}: ${eventText(event)}`) });
  }
}

/** Slack reads these three characters as links and mentions. */
const escapeForSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
