/** Things in the order of their expiry: a binary heap, so that neither adding nor taking looks at all of them. */
export interface ExpiryQueue<Item extends Expiring> {
  size(): number;
  soonest(): Item | undefined;
  takeSoonest(): Item | undefined;
  add(item: Item): void;
  clear(): void;
}

interface Expiring {
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export function createExpiryQueue<Item extends Expiring>(): ExpiryQueue<Item> {
  const heap: Item[] = [];

  function sinkFromTop(item: Item): void {
    let index = 0;
    for (;;) {
      const left = index * 2 + 1;
      const [leftItem, rightItem] = [heap[left], heap[left + 1]];
      if (leftItem === undefined) break;
      const goesRight = rightItem !== undefined && rightItem.expiresAt < leftItem.expiresAt;
      const sooner = goesRight ? rightItem : leftItem;
      if (item.expiresAt <= sooner.expiresAt) break;
      heap[index] = sooner;
      index = goesRight ? left + 1 : left;
    }
    heap[index] = item;
  }

  return {
    size: () => heap.length,
    soonest: () => heap[0],
    takeSoonest() {
      const taken = heap[0];
      const last = heap.pop();
      if (last !== undefined && heap.length > 0) sinkFromTop(last);
      return taken;
    },
    add(item) {
      let index = heap.length;
      while (index > 0) {
        const above = Math.floor((index - 1) / 2);
        const parent = heap[above];
        if (parent === undefined || parent.expiresAt <= item.expiresAt) break;
        heap[index] = parent;
        index = above;
      }
      heap[index] = item;
    },
    clear: () => void heap.splice(0),
  };
}
