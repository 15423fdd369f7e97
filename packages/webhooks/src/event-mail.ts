import type { StoredEvent } from './event-store.ts';
import { eventText } from './event-text.ts';

/** A mail to one address. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail; rejects when it was not accepted. */
export type SendMail = (mail: Mail) => Promise<void>;

/** The mail to a user about an event. */
export function eventMail(event: StoredEvent, to: string): Mail {
  const text = eventText(event);
  return {
    to,
    subject: `Model Gateway: ${event.type}`,
    text: `${text}\n\nYou get this mail because you own the key. It was noticed at ${event.at.toISOString()}.\n`,
  };
}
