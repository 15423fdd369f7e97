import { usageEventSchema, type UsageEvent } from '@model-gateway/contracts';
import type { Journal } from '@model-gateway/kernel';

/** Takes events out of the journal until there are `count` of them. */
export async function takeUsage(journal: Journal, count: number): Promise<readonly UsageEvent[]> {
  const events: UsageEvent[] = [];
  const enough = new AbortController();
  const giveUp = setTimeout(() => enough.abort(), 60_000);
  await journal.drain(
    async (batch) => {
      events.push(...batch.map(({ body }) => usageEventSchema.parse(JSON.parse(body))));
      if (events.length >= count) enough.abort();
    },
    { batchSize: 100, signal: enough.signal },
  );
  clearTimeout(giveUp);
  return events;
}
