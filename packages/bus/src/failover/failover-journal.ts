import {
  untilAborted,
  type Clock,
  type Journal,
  type JournalEntry,
  type Log,
} from '@model-gateway/kernel';
import { requireEntrySize } from '../journal-line.ts';
import { linkedAbort } from '../linked-abort.ts';
import type { FileJournal } from '../local/file-journal.ts';
import type { RedisConnection } from '../redis/redis-connection.ts';
import type { RedisJournal } from '../redis/redis-journal.ts';
import { createBatchPerTick } from '../batch-per-tick.ts';
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
  readonly clock: Clock;
  readonly log: Log;
}

const MOVE_BATCH_ENTRIES = 500;
const APPEND_AT_ONCE = 500;

/**
 * An append without a reply from Redis goes to the file as well, and so do the last appends before an outage, since Redis may
 * lose them. So an entry can be delivered twice and is never lost. A recorder reads the stream while Redis is ready and the
 * file of this process while it is unavailable.
 */
export function createFailoverJournal(options: FailoverJournalOptions): FailoverJournal {
  const { connection, redis, file, fallBack, clock, log } = options;
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

  async function appendToFile(entries: readonly JournalEntry[]): Promise<void> {
    await Promise.all(entries.map((entry) => file.append(entry)));
  }

  const appendAll = (entries: readonly JournalEntry[]): Promise<void> =>
    fallBack(
      async () => {
        const taken = redis.appendAll(entries);
        // While Redis accepts them. Entries that it does not confirm are written twice, which does no harm.
        recent.add(entries);
        await taken;
      },
      () => appendToFile(entries),
    );
  const appendTogether = createBatchPerTick(appendAll, APPEND_AT_ONCE);

  connection.onChange(() => {
    if (connection.commandsReady() || closing.signal.aborted) return;
    appendToFile(recent.takeAll()).catch((error: unknown) => {
      log.error({ error }, 'writing the last appends to the journal file failed');
    });
  });

  return {
    start() {
      const moving = alternate(connection, closing.signal, {
        whileReady: moveToRedis,
        whileUnavailable: untilAborted,
      });
      void track(
        moving.catch((error: unknown) => log.error({ error }, 'the journal mover stopped')),
      );
    },
    async append(entry) {
      requireEntrySize(entry);
      await appendTogether(entry);
    },
    async drain(record, { batchSize, signal }) {
      const stop = linkedAbort(signal, closing.signal);
      const draining = alternate(connection, stop.signal, {
        whileReady: (turn) => redis.drain(record, { batchSize, signal: turn }),
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
