import { describeError, type Clock, type Log } from '@model-gateway/kernel';
import type { EventOutbox } from './event-store.ts';

interface QuotaEventsDependencies {
  readonly outbox: Pick<EventOutbox, 'add'>;
  readonly clock: Clock;
  readonly log: Log;
}

const REMEMBERED_MAX = 10_000;

/** Stores that a user reached the monthly quota, once a month. It never delays or fails a request. */
export function createQuotaEvents({
  outbox,
  clock,
  log,
}: QuotaEventsDependencies): (user: { readonly userId: string; readonly tier: string }) => void {
  /** What this process has stored: later refusals of the month need no query. */
  const stored = new Set<string>();
  return ({ userId, tier }) => {
    const month = new Date(clock.now()).toISOString().slice(0, 7);
    const key = `quota.exceeded:${userId}:${month}`;
    if (stored.has(key)) return;
    if (stored.size >= REMEMBERED_MAX) stored.clear();
    stored.add(key);
    const data = { user_id: userId, tier, month };
    outbox.add({ key, type: 'quota.exceeded', groupId: null, data }).catch((error: unknown) => {
      stored.delete(key);
      log.warn({ reason: describeError(error) }, 'storing an event failed');
    });
  };
}
