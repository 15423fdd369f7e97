/**
 * Waits for the first item of a stream, so that a failure before it can still be tried elsewhere. Whoever stops reading
 * the result ends the source, also before having read anything.
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
