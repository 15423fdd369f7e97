import { createDeferred } from './deferred.ts';
import { readToEnd } from './read-to-end.ts';

const KIBIBYTE = 1024;

/** A response of these parts; `null` stands for one that never comes. */
function response(parts: readonly (Uint8Array | null)[]) {
  const cancelled = createDeferred();
  let read = 0;
  const source: AsyncIterator<Uint8Array> = {
    async next() {
      const part = parts[read];
      if (part === null) return new Promise(() => undefined);
      if (part === undefined) return { done: true, value: undefined };
      read += 1;
      return { done: false, value: part };
    },
    async return() {
      cancelled.resolve();
      return { done: true, value: undefined };
    },
  };
  return { source, cancelled: cancelled.promise, partsRead: () => read };
}

test('what follows the last event is read to its end', async () => {
  const { source, cancelled, partsRead } = response([new Uint8Array(10), new Uint8Array(5)]);
  readToEnd(source);
  await cancelled;
  expect(partsRead()).toBe(2);
});

test('a response that goes on is cancelled after 64 KiB', async () => {
  const parts = Array.from({ length: 1_000 }, () => new Uint8Array(KIBIBYTE));
  const { source, cancelled, partsRead } = response(parts);
  readToEnd(source);
  await cancelled;
  expect(partsRead()).toBe(65);
});

test('a response that does not end is cancelled', async () => {
  const { source, cancelled } = response([null]);
  readToEnd(source);
  await expect(cancelled).resolves.toBeUndefined();
});
