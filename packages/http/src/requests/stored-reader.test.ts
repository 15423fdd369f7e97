import { createBodyMemory } from './body-memory.ts';
import { createStoredReader, type StoredSize } from './stored-reader.ts';

const MEBIBYTE = 1024 * 1024;
const limits = { bytes: 8 * MEBIBYTE, items: 10 };

/** A reader whose request ends with `end`, and how often it read. */
function readerOf(memory = createBodyMemory({ bytesMax: 100 * MEBIBYTE })) {
  const ends: (() => void)[] = [];
  const reader = createStoredReader({
    userId: 'ann',
    memory,
    limits,
    onEnd: (end) => ends.push(end),
  });
  let reads = 0;
  return {
    memory,
    read: (bytes: number, items = 1) => reader.read({ bytes, items }, async () => (reads += 1)),
    end: () => {
      for (const end of ends) end();
    },
    reads: () => reads,
  };
}

test.each<{ why: string; sizes: readonly StoredSize[]; message: RegExp }>([
  {
    why: 'has too many bytes',
    sizes: [{ bytes: limits.bytes + 1, items: 1 }],
    message: /8388609 bytes together, at most 8388608 bytes are allowed/,
  },
  {
    why: 'has too many items',
    sizes: [{ bytes: 1, items: 11 }],
    message: /11 items together, at most 10 are allowed/,
  },
  {
    why: 'has too much together with what was read before',
    sizes: [
      { bytes: 5 * MEBIBYTE, items: 1 },
      { bytes: 5 * MEBIBYTE, items: 1 },
    ],
    message: /10485760 bytes/,
  },
])('what $why is refused before it is read', async ({ sizes, message }) => {
  const { read, reads, memory, end } = readerOf();
  for (const { bytes, items } of sizes.slice(0, -1)) await read(bytes, items);
  const before = memory.heldBytes;
  const last = sizes.at(-1) ?? { bytes: 0, items: 0 };
  await expect(read(last.bytes, last.items)).rejects.toMatchObject({
    code: 'context_too_large',
    message: expect.stringMatching(message),
  });
  expect(reads()).toBe(sizes.length - 1);
  expect(memory.heldBytes).toBe(before);
  end();
});

test('memory is held from before the read until the request is over', async () => {
  const { read, reads, memory, end } = readerOf();
  await read(2 * MEBIBYTE);
  await read(1_000);
  expect(memory.heldBytes).toBe(2 * MEBIBYTE);
  end();
  expect(memory.heldBytes).toBe(0);
  expect(reads()).toBe(2);
});

test('without memory nothing is read until there is some, and nothing at all when the request ends', async () => {
  const memory = createBodyMemory({ bytesMax: 3 * MEBIBYTE });
  const other = memory.take('ann', 2 * MEBIBYTE, () => undefined);
  const waiting = readerOf(memory);
  const leaving = readerOf(memory);
  const read = waiting.read(2 * MEBIBYTE);
  const left = leaving.read(2 * MEBIBYTE);
  expect(memory.waiting).toBe(2);
  expect(waiting.reads()).toBe(0);
  leaving.end();
  await expect(left).rejects.toMatchObject({ code: 'invalid_request' });
  other.release();
  expect(await read).toBe(1);
  expect(leaving.reads()).toBe(0);
  waiting.end();
  expect(memory).toMatchObject({ heldBytes: 0, waiting: 0 });
});
