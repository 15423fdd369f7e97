import { WebSocket } from 'ws';
import { createRpcClient, type RpcClient } from '../src/index.ts';
import { startLittleRpcServer, type LittleRpcServer } from './little-rpc-server.ts';

let server: LittleRpcServer;
let client: RpcClient;
let token: string | undefined;
let heldCalls: (() => void)[];

beforeEach(async () => {
  token = undefined;
  heldCalls = [];
  server = await startLittleRpcServer({
    answer: async ({ method }) => {
      if (method === 'keys.list') await new Promise<void>((resolve) => heldCalls.push(resolve));
      return { result: method };
    },
  });
  client = createRpcClient({
    baseUrl: server.url,
    transport: 'websocket',
    WebSocket,
    token: () => token,
  });
});
afterEach(async () => {
  client.close();
  await server.close();
});

/** Waits until the service has begun to answer a call. */
async function callHeld(): Promise<void> {
  while (heldCalls.length === 0) await client.call('system.status');
}

test('nothing is opened before the first call, and one socket serves all calls', async () => {
  expect(server.socketUrls).toEqual([]);
  await Promise.all([client.call('system.status'), client.call('system.status')]);
  await client.call('system.status');
  expect(server.socketUrls).toEqual(['/api/rpc']);
});

test('a lost connection ends the calls in flight, and the next call opens another', async () => {
  const [lost] = await Promise.allSettled([
    client.call('keys.list'),
    callHeld().then(() => {
      for (const socket of server.sockets) socket.terminate();
    }),
  ]);
  expect(lost).toMatchObject({
    reason: { name: 'RpcConnectionError', problem: 'closed' },
  });
  expect(await client.call('system.status')).toBe('system.status');
  expect(server.socketUrls).toHaveLength(2);
});

test.each(['no JSON', '{"jsonrpc":"2.0","method":"x"}', '[1]'])(
  'a connection that says %s is given up',
  async (text) => {
    const [lost] = await Promise.allSettled([
      client.call('keys.list'),
      callHeld().then(() => {
        for (const socket of server.sockets) socket.send(text);
      }),
    ]);
    expect(lost).toMatchObject({ reason: { problem: 'bad-answer' } });
    expect(await client.call('system.status')).toBe('system.status');
    expect(server.socketUrls).toHaveLength(2);
  },
);

test('the token travels in the query, and a new token opens a new socket', async () => {
  await client.call('system.status');
  token = 'a token&more';
  const slow = client.call('keys.list');
  await callHeld();
  token = 'another';
  await client.call('system.status');
  expect(server.socketUrls).toEqual([
    '/api/rpc',
    '/api/rpc?token=a%20token%26more',
    '/api/rpc?token=another',
  ]);
  // The old socket lives on until its last call is answered.
  for (const release of heldCalls) release();
  expect(await slow).toBe('keys.list');
});

test('without a WebSocket there is a clear refusal', () => {
  const own: unknown = Reflect.get(globalThis, 'WebSocket');
  Reflect.deleteProperty(globalThis, 'WebSocket');
  try {
    expect(() => createRpcClient({ baseUrl: server.url, transport: 'websocket' })).toThrow(
      'there is no WebSocket here: pass one',
    );
  } finally {
    if (own !== undefined) Reflect.set(globalThis, 'WebSocket', own);
  }
});
