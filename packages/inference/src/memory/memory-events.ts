import { describeError, withTimeout, type Clock, type Log } from '@model-gateway/kernel';
import { beginningOf } from '../chat/message-text.ts';

/** An action of memory for a user, or its failure. */
export interface MemoryEvent {
  readonly at: Date;
  readonly kind: 'recall' | 'write' | 'delete' | 'error';
  readonly nodeIds: readonly string[];
  readonly detail: string | null;
}

export interface UserMemoryEvent extends MemoryEvent {
  readonly userId: string;
}

/** Stores the recent events of every user. */
export interface MemoryEventStore {
  /** Adds events, the oldest first, and deletes all but the newest `keptMax` of each user. */
  append(events: readonly UserMemoryEvent[], keptMax: number): Promise<void>;
  /** The newest first. */
  newest(userId: string, countMax: number): Promise<readonly MemoryEvent[]>;
}

/** The events of this process, written in the background. */
export interface MemoryEvents {
  record(
    userId: string,
    kind: MemoryEvent['kind'],
    about: { readonly nodeIds?: readonly string[]; readonly detail?: string },
  ): void;
  /** Those of every process, the newest first. */
  newest(userId: string): Promise<readonly MemoryEvent[]>;
  /** Waits for pending writes, up to a timeout. */
  settled(): Promise<void>;
}

interface MemoryEventsDependencies {
  readonly store: MemoryEventStore;
  readonly clock: Clock;
  readonly log: Log;
}

const KEPT_PER_USER_MAX = 50;
const UNWRITTEN_MAX = 1_000;
const BATCH_MAX = 100;
const SETTLE_TIMEOUT_MS = 2_000;
const NODE_IDS_MAX = 50;
const DETAIL_CHARS_MAX = 500;

export function createMemoryEvents({ store, clock, log }: MemoryEventsDependencies): MemoryEvents {
  const unwritten: UserMemoryEvent[] = [];
  let writing: Promise<void> | undefined;
  let lostCount = 0;

  async function writeAll(): Promise<void> {
    while (unwritten.length > 0) {
      const batch = unwritten.splice(0, BATCH_MAX);
      let reason = 'too many at once';
      try {
        await store.append(batch, KEPT_PER_USER_MAX);
      } catch (error) {
        lostCount += batch.length;
        reason = describeError(error);
      }
      if (lostCount > 0) log.warn({ reason, lost: lostCount }, 'writing memory events failed');
      lostCount = 0;
    }
    writing = undefined;
  }

  async function settled(): Promise<void> {
    if (writing === undefined) return;
    await withTimeout(writing, SETTLE_TIMEOUT_MS).catch(() => undefined);
  }

  return {
    record(userId, kind, { nodeIds = [], detail }) {
      if (unwritten.length >= UNWRITTEN_MAX) {
        unwritten.shift();
        lostCount += 1;
      }
      unwritten.push({
        userId,
        at: new Date(clock.now()),
        kind,
        nodeIds: nodeIds.slice(0, NODE_IDS_MAX),
        detail: detail === undefined ? null : beginningOf(detail, DETAIL_CHARS_MAX),
      });
      writing ??= writeAll();
    },
    async newest(userId) {
      await settled();
      return store.newest(userId, KEPT_PER_USER_MAX);
    },
    settled,
  };
}
