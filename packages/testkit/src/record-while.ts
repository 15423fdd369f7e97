import { failedRequestsSchema, requestNotice, REQUESTS_CHANNEL } from '@model-gateway/contracts';
import type { TestContext } from './test-context.ts';
import { usageEventsIn } from './usage-event.ts';

/** Records and announces what is in the journal, as the recorder does, until the work is done. */
export async function recordWhile<Result>(
  { database, bus }: TestContext['context'],
  work: () => Promise<Result>,
): Promise<Result> {
  const done = new AbortController();
  const recording = bus.journal.drain(
    async (batch) => {
      const failures = batch.flatMap(
        ({ body }) => failedRequestsSchema.safeParse(JSON.parse(body)).data?.failures ?? [],
      );
      await database.usage.record(usageEventsIn(batch), { pointsPerUsd: 100, failures });
      await bus.channels.publish(REQUESTS_CHANNEL, requestNotice(failures));
    },
    { batchSize: 100, signal: done.signal },
  );
  try {
    return await work();
  } finally {
    done.abort();
    await recording;
  }
}
