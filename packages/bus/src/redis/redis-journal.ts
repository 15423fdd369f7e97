import { newId, type Journal, type JournalEntry, type Log } from '@model-gateway/kernel';
import { requireEntrySize } from '../journal-line.ts';
import { closeRedisClient } from './redis-client.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';
import { createStreamConsumer } from './stream-consumer.ts';

/** The journal as a Redis stream with one consumer group; a recorded entry is deleted. */
export interface RedisJournal extends Journal {
  /** Appends entries in order; rejects when one of them may be missing. */
  appendAll(entries: readonly JournalEntry[]): Promise<void>;
}

interface RedisJournalOptions {
  readonly connection: RedisConnection;
  readonly prefix: string;
  readonly log: Log;
  /** After this time without a sign of life from a recorder its entries go to another. */
  readonly claimIdleMs?: number;
}

const CLAIM_IDLE_MS = 30_000;

// One call for all entries that are appended together: the CPU time of a call hardly depends on its length.
const APPEND = script(`
for i = 1, #ARGV, 2 do
  redis.call('XADD', KEYS[1], '*', 'id', ARGV[i], 'body', ARGV[i + 1])
end
`);

export function createRedisJournal(options: RedisJournalOptions): RedisJournal {
  const { connection, prefix, log, claimIdleMs = CLAIM_IDLE_MS } = options;
  const stream = `${prefix}journal`;
  const processId = newId();
  const busySlots = new Set<number>();

  function takeSlot(): number {
    let slot = 0;
    while (busySlots.has(slot)) slot += 1;
    busySlots.add(slot);
    return slot;
  }

  async function appendAll(entries: readonly JournalEntry[]): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    if (entries.length === 1) {
      await connection.run((client) =>
        client.xadd(stream, '*', 'id', first.id, 'body', first.body),
      );
      return;
    }
    const values: string[] = [];
    for (const { id, body } of entries) values.push(id, body);
    await connection.run((client) => APPEND.run(client, [stream], values));
  }

  return {
    async append(entry) {
      requireEntrySize(entry);
      await appendAll([entry]);
    },
    appendAll,
    async drain(record, { batchSize, signal }) {
      // A consumer that drains again finds its unfinished entries.
      const slot = takeSlot();
      const blocking = connection.openBlocking();
      const consumer = createStreamConsumer({
        connection,
        blocking,
        log,
        stream,
        name: `${slot}@${processId}`,
        claimIdleMs,
      });
      try {
        await consumer.consume(record, batchSize, signal);
      } finally {
        busySlots.delete(slot);
        await closeRedisClient(blocking);
      }
    },
    lag: () => connection.run((client) => client.xlen(stream)),
  };
}
