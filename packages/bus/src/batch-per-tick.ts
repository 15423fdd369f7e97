interface Batch<Item> {
  readonly items: Item[];
  readonly done: Promise<void>;
}

/**
 * Runs the calls of one tick of the event loop as one batch, up to a limit: the CPU time of a call to Redis hardly depends on
 * its length. A failure fails the whole batch. A single call does not wait for others.
 */
export function createBatchPerTick<Item>(
  runAll: (items: readonly Item[]) => Promise<void>,
  atOnceMax: number,
): (item: Item) => Promise<void> {
  let open: Batch<Item> | undefined;
  let underWay = 0;
  let lastSize = 1;

  async function runBatch(items: readonly Item[]): Promise<void> {
    underWay += 1;
    try {
      await runAll(items);
    } finally {
      underWay -= 1;
    }
  }

  function openBatch(): Batch<Item> {
    const items: Item[] = [];
    const done = new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        if (open === batch) open = undefined;
        lastSize = items.length;
        runBatch(items).then(resolve, reject);
      });
    });
    const batch = { items, done };
    return batch;
  }

  return (item) => {
    if (open === undefined && underWay === 0 && lastSize === 1) return runBatch([item]);
    if (open === undefined || open.items.length >= atOnceMax) open = openBatch();
    open.items.push(item);
    return open.done;
  };
}
