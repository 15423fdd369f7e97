/** A list that keeps its newest entries and counts the dropped ones. */
export interface Ring<Entry> {
  add(entry: Entry): void;
  /** Oldest first. */
  entries(): readonly Entry[];
  last(): Entry | undefined;
  /** How many entries were dropped since the last `clear`. */
  readonly dropped: number;
  /** Removes all entries and returns how many there were. */
  clear(): number;
}

/** Keeps at most `capacity` entries. */
export function createRing<Entry>(capacity: number, onDrop?: (entry: Entry) => void): Ring<Entry> {
  let kept: Entry[] = [];
  // Dropped entries stay at the front until there are `capacity` of them, so that adding does not move the others.
  let start = 0;
  let dropped = 0;
  return {
    get dropped() {
      return dropped;
    },
    add(entry) {
      kept.push(entry);
      if (kept.length - start <= capacity) return;
      const oldest = kept[start];
      start += 1;
      dropped += 1;
      if (oldest !== undefined) onDrop?.(oldest);
      if (start > capacity) {
        kept = kept.slice(start);
        start = 0;
      }
    },
    entries: () => kept.slice(start),
    last: () => (kept.length > start ? kept.at(-1) : undefined),
    clear() {
      const count = kept.length - start;
      kept = [];
      start = 0;
      dropped = 0;
      return count;
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
