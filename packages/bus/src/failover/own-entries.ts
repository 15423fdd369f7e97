import type { Clock, Entries } from '@model-gateway/kernel';
import { LRUCache } from 'lru-cache';
import { createBoundedExpiringMap } from '../local/bounded-expiring-map.ts';
import type { ExpiringEntry } from '../local/expiring-map.ts';
import { createLocalEntries } from '../local/local-entries.ts';
import type { EntryChange, StoredEntry } from '../redis/redis-entries.ts';

/** Serves the entries that this process used last while Redis is unavailable, and tracks the changes that Redis missed. */
export interface OwnEntries extends Entries {
  /** The entry as this process knows it; the same object until it changes. */
  known(key: string): ExpiringEntry<string> | undefined;
  /** Stores a reply of Redis. */
  remember(key: string, entry: StoredEntry | undefined): void;
  /** The change of an entry that Redis missed; the same object until it changes. */
  missed(key: string): MissedChange | undefined;
  missedKeys(): readonly string[];
  /** Marks the change as repeated, unless the entry was changed again. */
  made(key: string, change: MissedChange): void;
}

/** The last change of an entry; if it has expired when it is repeated, it counts as a removal. */
export interface MissedChange {
  toRepeat(): EntryChange;
}

interface Change extends MissedChange {
  readonly replaces: EntryChange['replaces'];
}

interface OwnEntriesOptions {
  readonly clock: Clock;
  readonly entriesMax?: number;
}

const ENTRIES_MAX = 100_000;
const REPLACED_VALUES_MAX = 8;

export function createOwnEntries(options: OwnEntriesOptions): OwnEntries {
  const { clock, entriesMax = ENTRIES_MAX } = options;
  const recent = createBoundedExpiringMap<string>({ clock, entriesMax });
  const local = createLocalEntries({ clock, map: recent });
  const changes = new LRUCache<string, Change>({ maxSize: entriesMax, sizeCalculation: () => 1 });

  // Makes a change here and records the result.
  async function change<Answer>(
    key: string,
    replaced: EntryChange['replaces'],
    make: () => Promise<Answer>,
  ): Promise<Answer> {
    const replaces = union(changes.peek(key)?.replaces ?? [], replaced);
    const answer = make();
    const entry = recent.get(key);
    changes.set(key, { replaces, toRepeat: () => ({ replaces, entry: entryNow(entry, clock) }) });
    return answer;
  }

  const knownValues = (key: string): readonly string[] => {
    const value = recent.get(key)?.value;
    return value === undefined ? [] : [value];
  };

  return {
    get: (key) => local.get(key),
    put: (key, value, times) => change(key, knownValues(key), () => local.put(key, value, times)),
    putIfAbsent: (key, value, times) =>
      recent.get(key) === undefined
        ? change(key, [], () => local.putIfAbsent(key, value, times))
        : local.putIfAbsent(key, value, times),
    remove: (key) => change(key, 'any', () => local.remove(key)),
    async removeIf(key, value) {
      const known = recent.get(key);
      // An entry that this process does not know may still have the value on Redis.
      if (known !== undefined && known.value !== value) return false;
      return change(key, [value], () => local.removeIf(key, value));
    },
    known: (key) => recent.get(key),
    remember(key, entry) {
      if (entry === undefined) recent.delete(key);
      else recent.set(key, entry.value, clock.now() + entry.expiresAfterMs);
    },
    missed: (key) => changes.peek(key),
    missedKeys: () => [...changes.rkeys()],
    made(key, made) {
      if (changes.peek(key) === made) changes.delete(key);
    },
  };
}

function union(
  earlier: EntryChange['replaces'],
  later: EntryChange['replaces'],
): EntryChange['replaces'] {
  if (earlier === 'any' || later === 'any') return 'any';
  return [...new Set([...earlier, ...later])].slice(-REPLACED_VALUES_MAX);
}

function entryNow(entry: ExpiringEntry<string> | undefined, clock: Clock): StoredEntry | undefined {
  const expiresAfterMs = entry === undefined ? 0 : entry.expiresAt - clock.now();
  if (entry === undefined || expiresAfterMs < 1) return undefined;
  return { value: entry.value, expiresAfterMs };
}
