import { WebSocket } from 'ws';
import { createRpcClient, type RpcClient } from '../src/index.ts';
import { startTestRpcServer, type TestRpcServer } from './test-rpc-server.ts';

let server: TestRpcServer;
let client: RpcClient;
let token: string | undefined;
let pendingCalls: (() => void)[];

beforeEach(async () => {
  token = undefined;
  pendingCalls = [];
  server = await startTestRpcServer({
    answer: async ({ method }) => {
      if (method === 'keys.list') await new Promise<void>((resolve) => pendingCalls.push(resolve));
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

/** Waits until the service has received a call to `keys.list`. */
async function callReceived(): Promise<void> {
  while (pendingCalls.length === 0) await client.call('system.status');
}

test('no socket is opened before the first call, and one socket serves all calls', async () => {
  expect(server.socketUrls).toEqual([]);
  await Promise.all([client.call('system.status'), client.call('system.status')]);
  await client.call('system.status');
  expect(server.socketUrls).toEqual(['/api/rpc']);
});

test('a lost connection ends the calls in flight, and the next call opens another', async () => {
  const [lost] = await Promise.allSettled([
    client.call('keys.list'),
    callReceived().then(() => {
      for (const socket of server.sockets) socket.terminate();
    }),
  ]);
  expect(lost).toMatchObject({
    reason: { name: 'RpcConnectionError', problem: 'closed' },
  });
  expect(await client.call('system.status')).toBe('system.status');
  expect(server.socketUrls).toHaveLength(2);
});

test.each(['not JSON', '{"jsonrpc":"2.0","method":"x"}', '[1]'])(
  'a connection that sends %s is closed',
  async (text) => {
    const [lost] = await Promise.allSettled([
      client.call('keys.list'),
      callReceived().then(() => {
        for (const socket of server.sockets) socket.send(text);
      }),
    ]);
    expect(lost).toMatchObject({ reason: { problem: 'bad-answer' } });
    expect(await client.call('system.status')).toBe('system.status');
    expect(server.socketUrls).toHaveLength(2);
  },
);

test('the token is sent in the query, and a new token opens a new socket', async () => {
  await client.call('system.status');
  token = 'a token&more';
  const slow = client.call('keys.list');
  await callReceived();
  token = 'another';
  await client.call('system.status');
  expect(server.socketUrls).toEqual([
    '/api/rpc',
    '/api/rpc?token=a%20token%26more',
    '/api/rpc?token=another',
  ]);
  // The old socket stays open until its last call has a response.
  for (const release of pendingCalls) release();
  expect(await slow).toBe('keys.list');
});

test('a runtime without WebSocket is a clear error', () => {
  const own: unknown = Reflect.get(globalThis, 'WebSocket');
  Reflect.deleteProperty(globalThis, 'WebSocket');
  try {
    expect(() => createRpcClient({ baseUrl: server.url, transport: 'websocket' })).toThrow(
      'this runtime has no WebSocket: pass one in the options',
    );
  } finally {
    if (own !== undefined) Reflect.set(globalThis, 'WebSocket', own);
  }
});
