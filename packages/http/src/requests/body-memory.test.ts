import { bodiesBytesDefault, createBodyMemory } from './body-memory.ts';

const ignore = (): void => undefined;
const MEBIBYTE = 1024 * 1024;

test('one owner gets at most half, and the others always find room', () => {
  const memory = createBodyMemory({ bytesMax: 12 });
  const shares = Array.from({ length: 8 }, () => memory.take('ann', 1, ignore));
  expect(shares.map(({ isGranted }) => isGranted)).toEqual([
    ...Array.from({ length: 6 }, () => true),
    false,
    false,
  ]);
  const bob = [memory.take('bob', 1, ignore), memory.take('bob', 2, ignore)];
  expect(bob.map(({ isGranted }) => isGranted)).toEqual([true, true]);
  expect(memory.take('cid', 3, ignore).isGranted).toBe(true);
  expect(memory).toMatchObject({ heldBytes: 12, waiting: 2 });
  for (const share of shares) share.release();
  expect(memory).toMatchObject({ heldBytes: 6, waiting: 0 });
});

test('a body that waits for its owner delays nobody else, and is granted in the order of arrival', () => {
  const memory = createBodyMemory({ bytesMax: 10 });
  const granted: string[] = [];
  const first = memory.take('ann', 5, ignore);
  memory.take('ann', 4, () => granted.push('second'));
  const third = memory.take('ann', 1, () => granted.push('third'));
  expect(memory.take('bob', 5, ignore).isGranted).toBe(true);
  first.release();
  expect(granted).toEqual(['second']);
  expect(memory).toMatchObject({ heldBytes: 9, waiting: 1 });
  third.release();
});

test('a body that needs more than there is gets it alone', () => {
  const memory = createBodyMemory({ bytesMax: 10 });
  const small = memory.take('ann', 1, ignore);
  const large = memory.take('ann', 50, ignore);
  expect(large.isGranted).toBe(false);
  small.release();
  expect(large.isGranted).toBe(true);
  const other = memory.take('bob', 1, ignore);
  expect(other.isGranted).toBe(false);
  large.release();
  large.release();
  expect(other.isGranted).toBe(true);
  expect(memory).toMatchObject({ heldBytes: 1, waiting: 0 });
});

test('requests that hold memory and wait for more do not wait for each other', () => {
  const memory = createBodyMemory({ bytesMax: 20 });
  const [first, second] = [{}, {}];
  const granted: string[] = [];
  const bodies = [first, second].map((one) => memory.take('ann', 5, ignore, one));
  const more = memory.take('ann', 5, () => granted.push('first'), first);
  expect(more.isGranted).toBe(false);
  const next = memory.take('ann', 10, () => granted.push('second'), second);
  expect(next.isGranted).toBe(true);
  expect(memory.take('bob', 1, ignore).isGranted).toBe(false);
  next.release();
  bodies[1]?.release();
  expect(granted).toEqual(['first']);
  for (const share of [...bodies, more]) share.release();
  expect(memory).toMatchObject({ heldBytes: 1, waiting: 0 });
});

test('a request whose waiting ends leaves others as they were', () => {
  const memory = createBodyMemory({ bytesMax: 10 });
  const [first, second] = [{}, {}];
  const body = memory.take('ann', 3, ignore, first);
  const other = memory.take('bob', 4, ignore, second);
  const more = memory.take('ann', 5, ignore, first);
  expect(more.isGranted).toBe(false);
  more.release();
  body.release();
  expect(memory.take('ann', 4, ignore).isGranted).toBe(true);
  expect(memory.take('ann', 1, ignore).isGranted).toBe(false);
  other.release();
  expect(memory).toMatchObject({ heldBytes: 5, waiting: 0 });
});

test('what a body does not need is free for others', () => {
  const memory = createBodyMemory({ bytesMax: 10 });
  const long = memory.take('ann', 10, ignore);
  const other = memory.take('bob', 3, ignore);
  long.shrink(7);
  expect(other.isGranted).toBe(true);
  long.shrink(8);
  expect(memory.heldBytes).toBe(10);
});

test('a body that waits too long is refused, with the time of a retry', async () => {
  let refused = 0;
  const memory = createBodyMemory({ bytesMax: 1, waitMsMax: 4, onRefused: () => (refused += 1) });
  const held = memory.take('ann', 1, ignore);
  const refusal = await new Promise((resolve) => memory.take('bob', 1, resolve));
  expect(refusal).toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('SERVICE_REQUEST_BODIES_BYTES_MAX'),
    details: { retry_after_secs: 5 },
  });
  expect({ refused, waiting: memory.waiting }).toEqual({ refused: 1, waiting: 0 });
  held.release();
  expect(memory.take('bob', 1, ignore).isGranted).toBe(true);
});

test('one owner cannot fill the queue', async () => {
  const memory = createBodyMemory({ bytesMax: 1 });
  const held = memory.take('ann', 1, ignore);
  const shares = Array.from({ length: 100 }, () => memory.take('bob', 1, ignore));
  const refusal = await new Promise((resolve) => memory.take('bob', 1, resolve));
  expect(refusal).toMatchObject({ code: 'overloaded' });
  const other = memory.take('cid', 1, ignore);
  expect(memory.waiting).toBe(101);
  for (const share of [...shares, held]) share.release();
  expect(other.isGranted).toBe(true);
});

test('the default depends on the memory of the process', () => {
  const bytes = bodiesBytesDefault();
  expect(bytes).toBeGreaterThan(8 * MEBIBYTE);
  expect(bytes * 16).toBeLessThanOrEqual(process.constrainedMemory() || Infinity);
});
