import {
  createRpcClient,
  randomId,
  RpcCallError,
  type RpcClient,
  type RpcClientOptions,
  type RpcEvent,
} from '@model-gateway/client';
import { sessionChannel, type RpcNotification } from '@model-gateway/contracts';
import { WebSocket } from 'ws';
import { startRpc, type RpcServer } from '../rpc-server.ts';

const PASSWORD = 'long enough';

let rpc: RpcServer;
const clients: RpcClient[] = [];
beforeAll(async () => {
  rpc = await startRpc();
});
afterAll(async () => {
  for (const client of clients) client.close();
  await rpc.test.close();
});

function createClient(options: Omit<RpcClientOptions, 'baseUrl'>): RpcClient {
  const client = createRpcClient({ baseUrl: rpc.url, WebSocket, ...options });
  clients.push(client);
  return client;
}

/** Reads `count` events of a stream. */
async function take(events: AsyncIterable<RpcEvent>, count: number): Promise<readonly RpcEvent[]> {
  const taken: RpcEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

describe.each(['http', 'websocket'] as const)('over %s', (transport) => {
  test('a user signs in, creates a key and lists the usage', async () => {
    const session: { token?: string } = {};
    const client = createClient({ transport, token: () => session.token });
    const email = `${transport}@example.com`;
    await rpc.createAccount(email);
    const signedIn = await client.call('auth.login', { email, password: PASSWORD });
    session.token = signedIn.access_token;
    expect(signedIn.user.email).toBe(email);

    const key = await client.call('keys.create', { name: 'mine', project: 'shop' });
    expect(key.key).toMatch(/^service-/);
    expect(key.project).toBe('shop');
    const usage = await client.call('usage.list');
    expect(usage).toEqual({ records: [], total: 0, limit: 50, offset: 0, project: null });
  });

  test('a refusal is an error with its code', async () => {
    const client = createClient({ transport });
    const refused = client.call('keys.create', { name: 'mine' });
    await expect(refused).rejects.toBeInstanceOf(RpcCallError);
    await expect(refused).rejects.toMatchObject({
      code: -32_005,
      message: 'authentication required',
    });
    await expect(
      client.call('auth.register', { email: 'invalid', password: PASSWORD }),
    ).rejects.toMatchObject({ code: -32_602, data: { issues: [{ path: 'email' }] } });
  });

  test('a batch returns results in order', async () => {
    const { token } = await rpc.createAccount(`batch-${transport}@example.com`);
    const [key, refused, usage] = await createClient({ transport, token }).batch([
      { method: 'keys.create', params: { name: 'one' } },
      { method: 'keys.create', params: { name: '' } },
      { method: 'usage.list', params: { limit: 7 } },
    ]);
    expect(key).toMatchObject({ status: 'fulfilled', value: { name: 'one' } });
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: -32_602 } });
    expect(usage.status === 'fulfilled' && usage.value.limit).toBe(7);
  });

  test('discover returns the OpenRPC document', async () => {
    const { token } = await rpc.createAccount(`discover-${transport}@example.com`);
    const { methods } = await createClient({ transport, token }).discover();
    expect(methods.map(({ name }) => name)).toContain('keys.create');
    expect(methods.filter((method) => !('x-extension' in method))).toHaveLength(57);
  });

  test('a body that is too large is refused, and the next call works', async () => {
    const { token } = await rpc.createAccount(`large-${transport}@example.com`);
    const client = createClient({ transport, token });
    const name = 'x'.repeat(2 * 1024 * 1024);
    await expect(client.call('keys.create', { name })).rejects.toMatchObject(
      transport === 'http' ? { code: -32_600 } : { problem: 'closed' },
    );
    await client.call('usage.list');
  });
});

test('many calls share one socket', async () => {
  const { token } = await rpc.createAccount('many@example.com');
  const client = createClient({ transport: 'websocket', token });
  const pages = await Promise.all(
    Array.from({ length: 20 }, (_, offset) => client.call('usage.list', { offset })),
  );
  expect(pages.map(({ offset }) => offset)).toEqual([...pages.keys()]);
});

test('a subscriber gets the notifications of a session in order, and copies of responses', async () => {
  const { token } = await rpc.createAccount('listener@example.com');
  const client = createClient({ transport: 'websocket', token });
  const session = randomId();
  const subscription = client.subscribe(session);
  await subscription.ready;
  const notifications = Array.from({ length: 20 }, (_, count): RpcNotification => ({
    jsonrpc: '2.0',
    method: 'chat.stream',
    params: { stream_id: session, token: `${count}`, is_complete: false },
  }));
  for (const notification of notifications) {
    await rpc.test.context.bus.channels.publish(
      sessionChannel(session),
      JSON.stringify(notification),
    );
  }
  const usage = await client.call('usage.list', {}, { sessionId: session });
  const events = await take(subscription, 21);
  expect(events.slice(0, 20)).toEqual(notifications);
  expect(events[20]).toMatchObject({ result: usage });
});

test('an invalid session id is refused', async () => {
  const subscription = createClient({}).subscribe('no session');
  await expect(subscription.ready).rejects.toMatchObject({ status: 400 });
});
