/** A list that keeps its newest entries and counts the dropped ones. */
export interface Ring<Entry> {
  add(entry: Entry): void;
  /** Oldest first. */
  entries(): readonly Entry[];
  last(): Entry | undefined;
  /** Drops the oldest entry. */
  dropOldest(): void;
  /** How many entries were dropped since the last `clear`. */
  readonly dropped: number;
  /** Removes all entries, which do not count as dropped, and returns how many there were. */
  clear(): number;
}

/** Keeps at most `capacity` entries; `onRemove` gets each entry that is dropped or cleared. */
export function createRing<Entry>(
  capacity: number,
  onRemove?: (entry: Entry) => void,
): Ring<Entry> {
  let kept: (Entry | undefined)[] = [];
  // Dropped entries stay at the front until there are `capacity` of them, so that adding does not move the others.
  let start = 0;
  let dropped = 0;

  function dropOldest(): void {
    if (start >= kept.length) return;
    const oldest = kept[start];
    kept[start] = undefined;
    start += 1;
    dropped += 1;
    if (oldest !== undefined) onRemove?.(oldest);
    if (start > capacity || start === kept.length) {
      kept = kept.slice(start);
      start = 0;
    }
  }

  return {
    dropOldest,
    get dropped() {
      return dropped;
    },
    add(entry) {
      kept.push(entry);
      if (kept.length - start > capacity) dropOldest();
    },
    entries: () => kept.slice(start) as Entry[],
    last: () => (kept.length > start ? kept.at(-1) : undefined),
    clear() {
      const removed = kept.slice(start) as Entry[];
      kept = [];
      start = 0;
      dropped = 0;
      if (onRemove !== undefined) for (const entry of removed) onRemove(entry);
      return removed.length;
    },
  };
}

/** A part of numbered entries: the oldest after `since`, or the newest without it. `next` is the `since` of the following part. */
export function selectEntries<Entry extends { readonly seq: number }>(
  found: readonly Entry[],
  since: number | undefined,
  limit: number,
): { readonly page: readonly Entry[]; readonly next: number } {
  const page = since === undefined ? found.slice(-limit) : found.slice(0, limit);
  return { page, next: page.at(-1)?.seq ?? since ?? 0 };
}
