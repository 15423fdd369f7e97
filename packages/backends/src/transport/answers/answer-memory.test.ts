import {
  COUNTED_BYTES_MIN,
  createAnswerMemory,
  keepUntilSent,
  takeWithin,
} from './answer-memory.ts';
import { readTextAnswer } from './read-text.ts';

const ignore = (): void => undefined;

test('answers take memory in the order in which they arrive', () => {
  const memory = createAnswerMemory({ bytesMax: 10 });
  const granted: string[] = [];
  const first = memory.take(undefined, 6, () => granted.push('first'));
  const second = memory.take(undefined, 8, () => granted.push('second'));
  const third = memory.take(undefined, 2, () => granted.push('third'));
  expect([first, second, third].map(({ isGranted }) => isGranted)).toEqual([true, false, false]);
  expect(memory).toMatchObject({ heldBytes: 6, waiting: 2 });
  first.release();
  expect(granted).toEqual(['second', 'third']);
  expect(memory).toMatchObject({ heldBytes: 10, waiting: 0 });
  for (const share of [first, second, third, third]) share.release();
  expect(memory.heldBytes).toBe(0);
});

test('an answer that needs more than there is gets it alone', () => {
  const memory = createAnswerMemory({ bytesMax: 10 });
  const small = memory.take(undefined, 1, ignore);
  const large = memory.take(undefined, 50, ignore);
  expect(large.isGranted).toBe(false);
  small.release();
  expect(large.isGranted).toBe(true);
  expect(memory.take(undefined, 1, ignore).isGranted).toBe(false);
  large.release();
  expect(memory).toMatchObject({ heldBytes: 1, waiting: 0 });
});

test('what an answer does not need is free for others', () => {
  const memory = createAnswerMemory({ bytesMax: 10 });
  const long = memory.take(undefined, 10, ignore);
  const other = memory.take(undefined, 3, ignore);
  long.shrink(7);
  expect(other.isGranted).toBe(true);
  long.shrink(8);
  expect(memory.heldBytes).toBe(10);
});

test('an answer that leaves the queue lets smaller ones pass', () => {
  const memory = createAnswerMemory({ bytesMax: 10 });
  memory.take(undefined, 6, ignore);
  const large = memory.take(undefined, 8, ignore);
  const small = memory.take(undefined, 4, ignore);
  large.release();
  expect(small.isGranted).toBe(true);
});

test('an answer that waits too long is refused, with the time of a retry', async () => {
  let refused = 0;
  const memory = createAnswerMemory({ bytesMax: 1, waitMsMax: 4, onRefused: () => (refused += 1) });
  memory.take(undefined, 1, ignore);
  const { signal: cancel } = new AbortController();
  await expect(takeWithin(memory, 1, cancel)).rejects.toMatchObject({
    code: 'overloaded',
    message: expect.stringContaining('SERVICE_UPSTREAM_ANSWERS_BYTES_MAX'),
    details: { retry_after_secs: 5 },
  });
  expect({ refused, waiting: memory.waiting }).toEqual({ refused: 1, waiting: 0 });
});

test('a call that is cancelled stops waiting', async () => {
  const memory = createAnswerMemory({ bytesMax: 1 });
  memory.take(undefined, 1, ignore);
  const controller = new AbortController();
  const waiting = takeWithin(memory, 1, controller.signal);
  expect(memory.waiting).toBe(1);
  controller.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  await expect(takeWithin(memory, 1, controller.signal)).rejects.toThrow('left');
  expect(memory.waiting).toBe(0);
});

describe('an answer that is read from a stream', () => {
  const { signal } = new AbortController();
  const bytesMax = 4 * COUNTED_BYTES_MIN;
  async function* bodyOf(sizes: readonly number[], failure?: Error) {
    for (const size of sizes) yield Buffer.alloc(size, 'x');
    if (failure !== undefined) throw failure;
  }

  test('keeps its memory until its client has it', async () => {
    const memory = createAnswerMemory({ bytesMax });
    let end = ignore;
    const onEnd = (listener: () => void): void => void (end = listener);
    const sizes = [COUNTED_BYTES_MIN, 5];
    const text = await readTextAnswer(bodyOf(sizes), {
      bytesMax,
      memory,
      signal,
      watch: { onEnd },
    });
    expect([text.length, memory.heldBytes]).toEqual([COUNTED_BYTES_MIN + 5, text.length]);
    end();
    expect(memory.heldBytes).toBe(0);
  });

  test.each([
    { why: 'is short', sizes: [COUNTED_BYTES_MIN], failure: undefined },
    { why: 'fails', sizes: [COUNTED_BYTES_MIN, 1, 1], failure: new Error('lost') },
    { why: 'is too large', sizes: [COUNTED_BYTES_MIN, 1, bytesMax], failure: undefined },
  ])('keeps none if it $why', async ({ sizes, failure }) => {
    const memory = createAnswerMemory({ bytesMax });
    const onEnd = (listener: () => void): void => void listener;
    const body = bodyOf(sizes, failure);
    await readTextAnswer(body, { bytesMax, memory, signal, watch: { onEnd } }).catch(ignore);
    expect(memory.heldBytes).toBe(0);
  });

  test('keeps none where the end of its client is not known', () => {
    const memory = createAnswerMemory({ bytesMax });
    keepUntilSent(memory.take(undefined, 5, ignore), {});
    expect(memory.heldBytes).toBe(0);
  });
});
