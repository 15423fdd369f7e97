import { describeError, withTimeout, type Log } from '@model-gateway/kernel';
import type { Redis } from 'ioredis';
import { gatherMs } from '../gather.ts';
import { pause } from '../pause.ts';
import { recordBatch, type RecordBatch } from '../record-batch.ts';
import type { RedisConnection } from './redis-connection.ts';
import { script } from './script.ts';
import {
  parseClaimAnswer,
  parseConsumers,
  parseReadAnswer,
  type StreamEntry,
} from './stream-entries.ts';

/** One consumer in the consumer group of the journal. */
export interface StreamConsumer {
  /** Delivers entries until the signal aborts: its own unfinished ones first, those of consumers that are gone in between. */
  consume(record: RecordBatch, batchSize: number, signal: AbortSignal): Promise<void>;
}

interface ConsumerOptions {
  readonly connection: RedisConnection;
  readonly blocking: Redis;
  readonly log: Log;
  readonly stream: string;
  readonly name: string;
  /** After this time without a sign of life from their consumer, entries are taken over. */
  readonly claimIdleMs: number;
}

const GROUP = 'recorders';
// How long a read waits for entries, which is also how long an abort can go unnoticed.
const BLOCK_MS = 500;
// Only a read on a dead connection takes this long.
const READ_TIMEOUT_MS = BLOCK_MS + 2_000;
const RETRY_MS = 200;
// Redis does nothing else meanwhile. A script can pass several times as many values to a command.
const ENTRIES_PER_CALL_MAX = 1_000;
// A batch with more than that is not made larger.
const CHARS_MAX = 16 * 1024 * 1024;
const CONSUMER_STALE_MS = 300_000;
/** How often entries in hand are renewed, and those of others looked at, within the time after which they are taken over. */
const CHECKS = 4;

// An entry is acknowledged and deleted in one step, so that the length of the stream is the number of unrecorded entries.
const FINISH = script(`
redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, 2))
return redis.call('XDEL', KEYS[1], unpack(ARGV, 2))
`);

// Deleting a consumer loses its pending entries, so only one without any is deleted.
const REMOVE_IDLE_CONSUMER = script(`
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then return 0 end
return redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
`);

export function createStreamConsumer(options: ConsumerOptions): StreamConsumer {
  const { connection, blocking, log, stream, name, claimIdleMs } = options;
  let hasGroup = false;
  let ownUnfinished = true;
  let claimCursor = '0-0';
  let claimDueAt = 0;

  async function ensureGroup(): Promise<void> {
    if (hasGroup) return;
    try {
      await connection.run((client) => client.xgroup('CREATE', stream, GROUP, '0', 'MKSTREAM'));
    } catch (error) {
      if (!describeError(error).startsWith('BUSYGROUP')) throw error;
    }
    hasGroup = true;
  }

  async function read(from: '0' | '>', count: number): Promise<readonly StreamEntry[]> {
    const reading = blocking.xreadgroup(
      'GROUP',
      GROUP,
      name,
      'COUNT',
      count,
      'BLOCK',
      BLOCK_MS,
      'STREAMS',
      stream,
      from,
    );
    return parseReadAnswer(await withTimeout(reading, READ_TIMEOUT_MS));
  }

  /** New entries that are there, without waiting for one. */
  async function readWaiting(count: number): Promise<readonly StreamEntry[]> {
    const reading = blocking.xreadgroup(
      'GROUP',
      GROUP,
      name,
      'COUNT',
      count,
      'STREAMS',
      stream,
      '>',
    );
    return parseReadAnswer(await withTimeout(reading, READ_TIMEOUT_MS));
  }

  async function claim(count: number): Promise<readonly StreamEntry[]> {
    const answer = await connection.run((client) =>
      client.xautoclaim(stream, GROUP, name, claimIdleMs, claimCursor, 'COUNT', count),
    );
    const { cursor, entries } = parseClaimAnswer(answer);
    claimCursor = cursor;
    if (cursor === '0-0') {
      claimDueAt = performance.now() + claimIdleMs / CHECKS;
      await removeStaleConsumers();
    }
    return entries;
  }

  async function removeStaleConsumers(): Promise<void> {
    const answer = await connection.run((client) => client.xinfo('CONSUMERS', stream, GROUP));
    for (const consumer of parseConsumers(answer)) {
      const isStale = consumer.pending === 0 && consumer.idleMs > CONSUMER_STALE_MS;
      if (isStale && consumer.name !== name) await removeConsumer(consumer.name);
    }
  }

  async function removeConsumer(consumer: string): Promise<void> {
    await connection.run((client) => REMOVE_IDLE_CONSUMER.run(client, [stream], [GROUP, consumer]));
  }

  async function next(count: number): Promise<readonly StreamEntry[]> {
    await ensureGroup();
    if (ownUnfinished) {
      const unfinished = await read('0', count);
      ownUnfinished = unfinished.length > 0;
      if (ownUnfinished) return unfinished;
    }
    if (performance.now() >= claimDueAt) {
      const claimed = await claim(count);
      if (claimed.length > 0) return claimed;
    }
    return read('>', count);
  }

  async function nextBatch(count: number): Promise<readonly StreamEntry[]> {
    let part = await next(Math.min(count, ENTRIES_PER_CALL_MAX));
    const batch = [...part];
    let chars = charsOf(part);
    while (part.length === ENTRIES_PER_CALL_MAX && batch.length < count && chars < CHARS_MAX) {
      part = await readWaiting(Math.min(count - batch.length, ENTRIES_PER_CALL_MAX));
      batch.push(...part);
      chars += charsOf(part);
    }
    return batch;
  }

  /** Calls back with the ids of entries, as many as Redis takes at once. */
  async function eachPart(
    entries: readonly StreamEntry[],
    take: (ids: readonly string[]) => Promise<unknown>,
  ): Promise<void> {
    for (let at = 0; at < entries.length; at += ENTRIES_PER_CALL_MAX) {
      const part = entries.slice(at, at + ENTRIES_PER_CALL_MAX);
      await take(part.map(({ streamId }) => streamId));
    }
  }

  /** Nobody takes over what this consumer works on, however long that takes. */
  const renew = (entries: readonly StreamEntry[]): Promise<void> =>
    eachPart(entries, (ids) =>
      connection.run((client) => client.xclaim(stream, GROUP, name, 0, ...ids, 'JUSTID')),
    ).catch(() => undefined);

  async function handOver(
    entries: readonly StreamEntry[],
    record: RecordBatch,
    signal: AbortSignal,
  ): Promise<void> {
    const batch = entries.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
    if (batch.length < entries.length) {
      log.warn({ entries: entries.length - batch.length }, 'unreadable journal entries skipped');
    }
    const renewal = setInterval(() => void renew(entries), claimIdleMs / CHECKS);
    try {
      if (batch.length > 0 && !(await recordBatch(record, batch, { signal, log }))) return;
    } finally {
      clearInterval(renewal);
    }
    await eachPart(entries, (ids) =>
      connection.run((client) => FINISH.run(client, [stream], [GROUP, ...ids])),
    );
  }

  return {
    async consume(record, batchSize, signal) {
      while (!signal.aborted) {
        try {
          const entries = await nextBatch(batchSize);
          if (entries.length > 0) await handOver(entries, record, signal);
          // A single entry is recorded at once.
          if (entries.length > 1 && entries.length < batchSize)
            await pause(gatherMs(entries.length), signal);
        } catch (error) {
          // Delivered but unfinished entries still belong to this consumer.
          ownUnfinished = true;
          hasGroup = false;
          log.debug({ reason: describeError(error) }, 'reading the journal stream failed');
          await pause(RETRY_MS, signal);
        }
      }
      await removeConsumer(name).catch(() => undefined);
    },
  };
}

const charsOf = (entries: readonly StreamEntry[]): number =>
  entries.reduce((sum, { entry }) => sum + (entry?.body.length ?? 0), 0);
