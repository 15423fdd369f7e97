/** A list that keeps its newest entries and counts those that it let go. */
export interface Ring<Entry> {
  add(entry: Entry): void;
  /** From the oldest to the newest. */
  entries(): readonly Entry[];
  last(): Entry | undefined;
  /** How many were let go since the last clearing. */
  readonly dropped: number;
  /** Forgets everything and says how much that was. */
  clear(): number;
}

/** Keeps at most `capacity` entries. */
export function createRing<Entry>(capacity: number, onDrop?: (entry: Entry) => void): Ring<Entry> {
  let kept: Entry[] = [];
  // The oldest are at the front until a whole capacity of them has gone, so that adding never moves the rest.
  let start = 0;
  let dropped = 0;
  return {
    get dropped() {
      return dropped;
    },
    add(entry) {
      kept.push(entry);
      if (kept.length - start <= capacity) return;
      const gone = kept[start];
      start += 1;
      dropped += 1;
      if (gone !== undefined) onDrop?.(gone);
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

/** A page of numbered entries: the oldest from `since` on, or the newest ones without it. `next` is the `since` of the following page. */
export function selectEntries<Entry extends { readonly seq: number }>(
  found: readonly Entry[],
  since: number | undefined,
  limit: number,
): { readonly page: readonly Entry[]; readonly next: number } {
  const page = since === undefined ? found.slice(-limit) : found.slice(0, limit);
  return { page, next: page.at(-1)?.seq ?? since ?? 0 };
}
