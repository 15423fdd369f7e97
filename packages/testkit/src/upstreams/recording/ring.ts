/** A list that drops its oldest entries, by number and by size. */
export interface Ring<Item> {
  push(item: Item): void;
  /** The number of all pushed items, including dropped ones. */
  readonly count: number;
  readonly last: Item | undefined;
  /** Oldest first. */
  toArray(): readonly Item[];
}

interface RingOptions<Item> {
  readonly itemsMax: number;
  readonly bytesMax?: number;
  readonly bytesOf?: (item: Item) => number;
}

export function createRing<Item>({
  itemsMax,
  bytesMax = Number.POSITIVE_INFINITY,
  bytesOf = () => 0,
}: RingOptions<Item>): Ring<Item> {
  const items: Item[] = [];
  let bytes = 0;
  let count = 0;

  return {
    push(item) {
      count += 1;
      if (itemsMax === 0) return;
      items.push(item);
      bytes += bytesOf(item);
      // The newest item is always kept, because tests use it.
      while (items.length > itemsMax || (bytes > bytesMax && items.length > 1)) {
        const oldest = items.shift();
        if (oldest !== undefined) bytes -= bytesOf(oldest);
      }
    },
    get count() {
      return count;
    },
    get last() {
      return items.at(-1);
    },
    toArray: () => [...items],
  };
}
