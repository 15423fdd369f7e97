import type { UsageEvent } from '@model-gateway/contracts';
import type { Journal } from '@model-gateway/kernel';
import { usageEventsIn } from '@model-gateway/testkit';

/** Takes events out of the journal until there are `count` of them, of one model if it is named. */
export async function takeUsage(
  journal: Journal,
  count: number,
  model?: string,
): Promise<readonly UsageEvent[]> {
  const events: UsageEvent[] = [];
  const enough = new AbortController();
  const giveUp = setTimeout(() => enough.abort(), 60_000);
  await journal.drain(
    async (batch) => {
      events.push(
        ...usageEventsIn(batch).filter((event) => model === undefined || event.model === model),
      );
      if (events.length >= count) enough.abort();
    },
    { batchSize: 100, signal: enough.signal },
  );
  clearTimeout(giveUp);
  return events;
}
