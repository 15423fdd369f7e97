import { createSendQueue, type SendQueue } from './send-queue.ts';

let queue: SendQueue;
let waiting: (() => void)[];
beforeEach(() => {
  queue = createSendQueue();
  waiting = [];
});
const add = (text: string): boolean => queue.add(text, (onSent) => waiting.push(onSent));

test('1,000 events may wait, and one more when one has left', () => {
  for (let event = 0; event < 1_000; event += 1) expect(add('{}')).toBe(true);
  expect(add('{}')).toBe(false);
  expect(waiting).toHaveLength(1_000);
  waiting[0]?.();
  expect(add('{}')).toBe(true);
  expect(add('{}')).toBe(false);
});

test('16 MiB may wait, counted in bytes', () => {
  const megabyte = 'é'.repeat(512 * 1024);
  for (let event = 0; event < 16; event += 1) expect(add(megabyte)).toBe(true);
  expect(add('x')).toBe(false);
  waiting[0]?.();
  expect(add(megabyte)).toBe(true);
});
