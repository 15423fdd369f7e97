/**
 * Waits for the first item of a stream, so that an earlier failure can be retried elsewhere. Ending the iteration ends the
 * source, even before the first read.
 */
export async function begunStream<Item>(
  source: AsyncGenerator<Item, void, undefined>,
): Promise<AsyncIterable<Item>> {
  let first: IteratorResult<Item, void> | undefined = await source.next();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        if (first === undefined) return source.next();
        const item = first;
        first = undefined;
        return item;
      },
      async return() {
        return source.return();
      },
    }),
  };
}
