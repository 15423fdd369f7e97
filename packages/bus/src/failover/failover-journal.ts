import {
  describeError,
  untilAborted,
  type Clock,
  type Journal,
  type JournalEntry,
  type Log,
} from '@model-gateway/kernel';
import { requireEntrySize } from '../journal-line.ts';
import { linkedAbort } from '../linked-abort.ts';
import { pause } from '../pause.ts';
import type { RecordBatch } from '../record-batch.ts';
import type { FileJournal } from '../local/file-journal.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { RedisJournal } from '../redis/redis-journal.ts';
import { createTurnBatch } from '../turn-batch.ts';
import { alternate } from './alternate.ts';
import type { FallBack } from './fall-back.ts';
import { createRecentAppends } from './recent-appends.ts';

/** The journal on Redis, with a file for the time without it. */
export interface FailoverJournal extends Journal {
  /** Starts moving the entries of the file to Redis whenever Redis is ready. */
  start(): void;
  close(): Promise<void>;
}

interface FailoverJournalOptions {
  readonly connection: RedisConnection;
  readonly redis: RedisJournal;
  readonly file: FileJournal;
  readonly fallBack: FallBack;
  /** Whether no other process uses this Redis. */
  readonly isRedisPrivate: boolean;
  readonly clock: Clock;
  readonly log: Log;
}

const MOVE_BATCH_ENTRIES = 500;
const APPEND_AT_ONCE = 500;
const LEFT_INTERVAL_MS = 100;

/**
 * An append without a reply from Redis goes to the file as well, and so do the last appends before an outage, since Redis may
 * lose them. So an entry can be delivered twice and is never lost. A recorder reads the stream while Redis is ready and the
 * file of this process while it is unavailable.
 *
 * With a Redis that no other process uses, entries are kept in the file alone: that is as safe, and takes half of the CPU time.
 */
export function createFailoverJournal(options: FailoverJournalOptions): FailoverJournal {
  const { connection, redis, file, fallBack, isRedisPrivate, clock, log } = options;
  const recent = createRecentAppends({ clock });
  const closing = new AbortController();
  const running = new Set<Promise<void>>();

  function track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
    return tracked;
  }

  function moveToRedis(signal: AbortSignal): Promise<void> {
    return file.drain((batch) => redis.appendAll(batch), { batchSize: MOVE_BATCH_ENTRIES, signal });
  }

  /** Delivers what an earlier version has left on Redis, and then the file. */
  async function drainPrivate(
    record: RecordBatch,
    batchSize: number,
    signal: AbortSignal,
  ): Promise<void> {
    const rest = linkedAbort(signal);
    let draining: Promise<void> | undefined;
    while (!signal.aborted && (await isLeftOnRedis())) {
      draining ??= redis.drain(record, { batchSize, signal: rest.signal });
      await pause(LEFT_INTERVAL_MS, signal);
    }
    rest.abort();
    await draining;
    rest.unlink();
    await file.drain(record, { batchSize, signal });
  }

  async function isLeftOnRedis(): Promise<boolean> {
    try {
      return (await redis.lag()) > 0;
    } catch (error) {
      log.warn({ reason: describeError(error) }, 'reading the journal on Redis failed');
      return false;
    }
  }

  async function appendToFile(entries: readonly JournalEntry[]): Promise<void> {
    await Promise.all(entries.map((entry) => file.append(entry)));
  }

  async function appendAll(entries: readonly JournalEntry[]): Promise<readonly JournalEntry[]> {
    await fallBack(
      async () => {
        const taken = redis.appendAll(entries);
        // While Redis accepts them. Entries that it does not confirm are written twice, which does no harm.
        recent.add(entries);
        await taken;
      },
      () => appendToFile(entries),
    );
    return entries;
  }
  const appendTogether = createTurnBatch(appendAll, APPEND_AT_ONCE);

  connection.onChange(() => {
    if (connection.commandsReady() || closing.signal.aborted) return;
    appendToFile(recent.takeAll()).catch((error: unknown) => {
      log.error({ error }, 'writing the last appends to the journal file failed');
    });
  });

  return {
    start() {
      if (isRedisPrivate) return;
      const moving = alternate(connection, closing.signal, {
        whileReady: moveToRedis,
        whileUnavailable: untilAborted,
      });
      void track(
        moving.catch((error: unknown) => log.error({ error }, 'the journal mover stopped')),
      );
    },
    async append(entry) {
      if (isRedisPrivate) return file.append(entry);
      requireEntrySize(entry);
      await appendTogether(entry);
    },
    async drain(record, { batchSize, signal }) {
      const stop = linkedAbort(signal, closing.signal);
      const draining = alternate(connection, stop.signal, {
        whileReady: (turn) =>
          isRedisPrivate
            ? drainPrivate(record, batchSize, turn)
            : redis.drain(record, { batchSize, signal: turn }),
        whileUnavailable: (turn) => file.drain(record, { batchSize, signal: turn }),
      });
      await track(draining.finally(() => stop.unlink()));
    },
    async lag() {
      const onRedis = fallBack(
        () => redis.lag(),
        () => Promise.resolve(0),
      );
      return (await onRedis) + (await file.lag());
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}
