import type { UpstreamFailure } from '@model-gateway/router';
import { readAll } from '../../tests/read-chunks.ts';
import { upstreamFailed } from '../errors/upstream-error.ts';
import { createChunkQueue } from './chunk-queue.ts';

const MEBIBYTE = 1024 * 1024;

function queueOf({ idleMs = 10_000, signal = new AbortController().signal } = {}) {
  const overs: (UpstreamFailure | undefined)[] = [];
  const queue = createChunkQueue<string>({ idleMs, signal, onOver: (why) => void overs.push(why) });
  return { queue, overs };
}

test('chunks wait for their reader, in order', async () => {
  const { queue, overs } = queueOf();
  queue.push('a', 1);
  queue.push('b', 1);
  const read: string[] = [];
  for await (const chunk of queue.read()) {
    read.push(chunk);
    if (chunk === 'b') queue.push('c', 1);
    if (chunk === 'c') break;
  }
  expect(read).toEqual(['a', 'b', 'c']);
  expect(overs).toEqual([undefined]);
});

test('what came before a failure is read before it', async () => {
  const { queue, overs } = queueOf();
  queue.push('a', 1);
  queue.fail(upstreamFailed('lost'));
  const reader = queue.read();
  expect(await reader.next()).toEqual({ done: false, value: 'a' });
  await expect(reader.next()).rejects.toThrow('lost');
  expect(overs).toHaveLength(1);
});

test('a reader that falls too far behind is cut off', async () => {
  const { queue, overs } = queueOf();
  for (let count = 0; count < 9; count += 1) queue.push('x', MEBIBYTE);
  expect(overs).toMatchObject([{ message: 'the answer was read too slowly' }]);
  queue.push('later', 1);
  await expect(readAll(queue.read())).rejects.toThrow('read too slowly');
});

test('a reader that waits too long gets an error', async () => {
  const { queue } = queueOf({ idleMs: 20 });
  await expect(readAll(queue.read())).rejects.toThrow('sent nothing for 20 ms');
});

test('an abort ends the stream, even if it is not read', () => {
  const controller = new AbortController();
  const { overs } = queueOf({ signal: controller.signal });
  controller.abort(new Error('client left'));
  expect(overs).toMatchObject([{ message: 'client left', isBackendAtFault: false }]);
});
