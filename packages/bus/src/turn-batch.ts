interface Batch<Item, Result> {
  readonly items: Item[];
  readonly results: Promise<readonly Result[]>;
}

/**
 * Runs the calls of one turn of the event loop as one batch, up to a limit: the CPU time of a call to Redis hardly depends on
 * its length. A failure fails the whole batch. A single call does not wait for others.
 */
export function createTurnBatch<Item, Result>(
  runAll: (items: readonly Item[]) => Promise<readonly Result[]>,
  atOnceMax: number,
): (item: Item) => Promise<Result> {
  let open: Batch<Item, Result> | undefined;
  let underWay = 0;
  let lastSize = 1;

  async function runBatch(items: readonly Item[]): Promise<readonly Result[]> {
    underWay += 1;
    try {
      return await runAll(items);
    } finally {
      underWay -= 1;
    }
  }

  async function runAlone(item: Item): Promise<Result> {
    underWay += 1;
    try {
      return resultAt(await runAll([item]), 0);
    } finally {
      underWay -= 1;
    }
  }

  function openBatch(): Batch<Item, Result> {
    const items: Item[] = [];
    const results = new Promise<readonly Result[]>((resolve, reject) => {
      setImmediate(() => {
        if (open === batch) open = undefined;
        lastSize = items.length;
        runBatch(items).then(resolve, reject);
      });
    });
    const batch = { items, results };
    return batch;
  }

  return (item) => {
    if (open === undefined && underWay === 0 && lastSize === 1) return runAlone(item);
    if (open === undefined || open.items.length >= atOnceMax) open = openBatch();
    const { items, results } = open;
    const index = items.push(item) - 1;
    return results.then((all) => resultAt(all, index));
  };
}

function resultAt<Result>(results: readonly Result[], index: number): Result {
  const result = results[index];
  if (result === undefined) throw new Error('a batch returned too few results');
  return result;
}
