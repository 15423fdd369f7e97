import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';
import { openRpcSocket } from './rpc-socket.ts';

const signal = new AbortController().signal;
const how = { signal, timeoutMs: 10_000, read: (result: unknown) => result };

let server: WebSocketServer;
let url: string;
beforeEach(async () => {
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false });
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('not listening');
  url = `ws://127.0.0.1:${address.port}`;
});
afterEach(async () => {
  for (const client of server.clients) client.terminate();
  server.close();
  await once(server, 'close');
});

/** The server's end of the next connection. */
async function accepted(): Promise<WebSocket> {
  const socket: unknown = (await once(server, 'connection'))[0];
  if (!(socket instanceof WebSocket)) throw new Error('not a socket');
  return socket;
}
const connect = (options: Partial<Parameters<typeof openRpcSocket>[0]> = {}) =>
  openRpcSocket({ url, connectTimeoutMs: 1_000, ...options });

test('a peer that replies to no ping is disconnected, and its calls fail', async () => {
  const socket = await connect({ heartbeatMs: 20 });
  await expect(socket.call('Any', {}, how)).rejects.toThrow('did not reply to pings for 20 ms');
});

test('a peer that answers pings may take its time', async () => {
  let pings = 0;
  server.once('connection', (remote) => {
    remote.on('ping', (data) => {
      remote.pong(data);
      pings += 1;
      if (pings === 3) remote.send('{"jsonrpc":"2.0","id":1,"result":"done"}');
    });
  });
  const socket = await connect({ heartbeatMs: 200 });
  expect(await socket.call('Slow', {}, how)).toBe('done');
  socket.close();
});

test('a long frame is read before the frames behind it', async () => {
  const peer = accepted();
  const seen: string[] = [];
  const socket = await connect({ onNotification: (method) => void seen.push(method) });
  const vectors = Array.from({ length: 400 }, () => Array.from({ length: 200 }, () => 0.125));
  const call = socket.call('Long', {}, { ...how, read: (result) => seen.push('Long') && result });
  const next = socket.call('Next', {}, how);
  const remote = await peer;
  remote.send(JSON.stringify({ jsonrpc: '2.0', method: 'Before' }));
  remote.send(JSON.stringify({ jsonrpc: '2.0', id: 1, result: vectors }));
  remote.send(JSON.stringify({ jsonrpc: '2.0', method: 'After' }));
  remote.send(JSON.stringify({ jsonrpc: '2.0', id: 2, result: 'next' }));
  expect(await call).toEqual(vectors);
  expect(await next).toBe('next');
  expect(seen).toEqual(['Before', 'Long', 'After']);
  socket.close();
});

test.each([
  ['a long text that is no JSON', `{"jsonrpc":"2.0","id":1,"result":"${'x'.repeat(300_000)}`],
  ['too many values', `{"jsonrpc":"2.0","id":1,"result":[${'{},'.repeat(3 * 1024 * 1024)}{}]}`],
  ['text that is no JSON', '{"jsonrpc": "2.'],
  ['JSON that is no frame', '[1]'],
  ['an answer to nobody in particular', '{"jsonrpc":"2.0","result":1}'],
  ['bytes', Buffer.from('{"jsonrpc":"2.0","id":1,"result":1}')],
])('%s ends the connection', async (_what, frame) => {
  const peer = accepted();
  const socket = await connect();
  const call = socket.call('Any', {}, how);
  (await peer).send(frame);
  await expect(call).rejects.toThrow('sent a frame ');
  await expect(socket.call('Any', {}, how)).rejects.toThrow('the connection is closed');
});

test('an answer that cannot be read fails its call alone', async () => {
  const peer = accepted();
  const socket = await connect();
  const read = (): never => {
    throw new Error('unreadable');
  };
  const calls = [socket.call('A', {}, { ...how, read }), socket.call('B', {}, how)];
  const remote = await peer;
  remote.send('{"jsonrpc":"2.0","id":1,"result":{}}');
  remote.send('{"jsonrpc":"2.0","id":2,"result":"fine"}');
  await expect(calls[0]).rejects.toThrow('unreadable');
  expect(await calls[1]).toBe('fine');
  socket.close();
});

test('the end of a connection is reported once', async () => {
  const ends: string[] = [];
  const peer = accepted();
  const socket = await connect({ onClosed: ({ message }) => void ends.push(message) });
  const call = socket.call('Any', {}, how);
  (await peer).close(1011);
  await expect(call).rejects.toThrow('the upstream closed the connection (1011)');
  socket.close();
  expect(ends).toEqual(['the upstream closed the connection (1011)']);
});

test('a call whose caller has left already is not sent', async () => {
  const socket = await connect();
  const gone = { ...how, signal: AbortSignal.abort(new Error('client left')) };
  await expect(socket.call('Any', {}, gone)).rejects.toThrow('client left');
  socket.close();
});
