import { PassThrough } from 'node:stream';
import { PipeSocket } from './pipe-socket.ts';

const BYTES_MAX = 100_000;

function open(bytesMax?: number) {
  const incoming = new PassThrough();
  // It takes what arrives until its buffer is full, as a pipe does.
  const outgoing = new PassThrough({ highWaterMark: 10 });
  const socket = new PipeSocket({ incoming, outgoing }, bytesMax);
  const received: string[] = [];
  socket.on('message', (text: string) => received.push(text));
  let closes = 0;
  socket.on('close', () => (closes += 1));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return { incoming, outgoing, socket, received, closes: () => closes, turn };
}

test('messages are split at their ends, also within a chunk and within a character', async () => {
  const { incoming, received, turn } = open();
  for (const byte of Buffer.from('{"a":"é"}\0{"b":1}\0{"c":"')) incoming.write(Buffer.of(byte));
  await turn();
  expect(received).toEqual(['{"a":"é"}', '{"b":1}']);
  incoming.write('2"}\0{"d":3}\0');
  await turn();
  expect(received.slice(2)).toEqual(['{"c":"2"}', '{"d":3}']);
});

test('a message in very many chunks is read in one pass', async () => {
  const { incoming, received, turn } = open();
  const chunk = 'x'.repeat(64);
  // A second look at earlier chunks would take minutes.
  for (let n = 0; n < 200_000; n += 1) incoming.write(chunk);
  incoming.write('\0');
  while (received.length === 0) await turn();
  expect(received[0]).toHaveLength(64 * 200_000);
});

test('a message above the limit closes the connection', async () => {
  const { incoming, received, closes, socket, turn } = open(BYTES_MAX);
  incoming.write(`${'x'.repeat(BYTES_MAX)}\0`);
  await turn();
  expect([received.length, closes()]).toEqual([1, 0]);
  incoming.write('x'.repeat(BYTES_MAX + 1));
  await turn();
  expect([received.length, closes()]).toEqual([1, 1]);
  const failed = await new Promise((resolve) => socket.send('{}', resolve));
  expect(failed).toEqual(new Error('the pipe to the browser is closed'));
});

test('messages wait for a browser that reads slowly, in their order and up to the limit', async () => {
  const { outgoing, socket, closes, turn } = open(BYTES_MAX);
  const sent = Array.from({ length: 50 }, (_, n) => `{"id":${n}}`);
  for (const text of sent) socket.send(text, () => undefined);
  // The rest waits in the socket.
  expect(outgoing.readableLength + outgoing.writableLength).toBeLessThan(100);
  let read = '';
  outgoing.on('data', (chunk: Buffer) => (read += chunk.toString()));
  while (read.split('\0').length <= sent.length) await turn();
  expect(read).toBe(sent.map((text) => `${text}\0`).join(''));
  outgoing.pause();
  for (let n = 0; n < 3; n += 1) socket.send('x'.repeat(BYTES_MAX), () => undefined);
  expect(closes()).toBe(1);
});

test.each(['incoming', 'outgoing'] as const)('the end of %s is the end of both', async (side) => {
  const opened = open();
  opened[side].destroy();
  await opened.turn();
  expect(opened.closes()).toBe(1);
  expect(opened.incoming.destroyed && opened.outgoing.destroyed).toBe(true);
});
