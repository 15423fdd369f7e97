import type { EventType, StoredEvent } from './event-store.ts';

type Data = StoredEvent['data'];

/** One sentence for each event, for people. */
const SENTENCES: Readonly<Record<EventType, (data: Data) => string>> = {
  'budget.threshold': (data) =>
    `The key ${named(data['key_name'])} has spent ${word(data['percent'])} % of its budget: ${usd(data['spent_usd'])} of ${usd(data['budget_usd'])} (${word(data['period'])}).`,
  'quota.exceeded': (data) =>
    `The user ${word(data['user_id'])} reached the monthly quota of the tier ${named(data['tier'])}.`,
  'key.expiring': (data) =>
    `The key ${named(data['key_name'])} expires at ${word(data['expires_at'])}.`,
  'backend.unhealthy': (data) => `The backend ${named(data['backend'])} does not answer.`,
  'backend.healthy': (data) => `The backend ${named(data['backend'])} answers again.`,
  'node.offline': (data) => `The GPU node ${named(data['node_name'])} is offline.`,
  'video.done': (data) => `The video job ${word(data['job_id'])} is done.`,
  'video.failed': (data) => `The video job ${word(data['job_id'])} failed: ${word(data['error'])}.`,
  'usage.halted': (data) =>
    `The recorder of usage waits at the event ${word(data['event_id'])}: ${word(data['error'])}.`,
  'webhook.test': () => 'This is a test of a webhook.',
};

/** What happened, as a sentence. */
export const eventText = ({ type, data }: Pick<StoredEvent, 'type' | 'data'>): string =>
  SENTENCES[type](data);

const word = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : 'unknown';

const named = (value: unknown): string => `"${word(value)}"`;

const usd = (value: unknown): string =>
  typeof value === 'number' ? `$${value.toFixed(2)}` : 'unknown';
