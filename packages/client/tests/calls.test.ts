import { WebSocket } from 'ws';
import { createRpcClient, RpcCallError, RpcConnectionError, type RpcClient } from '../src/index.ts';
import { startTestRpcServer, type Answer, type TestRpcServer } from './test-rpc-server.ts';

const TIMEOUT_MS = 200;

let release: () => void;
let released: Promise<void>;
let server: TestRpcServer;
let client: RpcClient;

/** Handles a few methods, each of which shows one behavior of the service. */
const answer: Answer = async ({ method, params }) => {
  switch (method) {
    case 'auth.me':
      return { error: { code: -32_005, message: 'authentication required' } };
    case 'keys.create':
      return { error: { code: -32_602, message: 'name', data: { issues: [{ path: 'name' }] } } };
    case 'keys.list':
      await released;
      return { result: [] };
    case 'memory.status':
      return undefined;
    default:
      return { result: { method, params } };
  }
};

const createClient = (transport: 'http' | 'websocket', options: object = {}): RpcClient =>
  createRpcClient({ baseUrl: `${server.url}/`, transport, WebSocket, ...options });

beforeEach(async () => {
  released = new Promise((resolve) => {
    release = resolve;
  });
  server = await startTestRpcServer({ answer });
});
afterEach(async () => {
  client.close();
  await server.close();
});

describe.each(['http', 'websocket'] as const)('over %s', (transport) => {
  beforeEach(() => {
    client = createClient(transport);
  });

  test('a call returns its result', async () => {
    expect(await client.call('usage.list', { limit: 5 })).toEqual({
      method: 'usage.list',
      params: { limit: 5 },
    });
    expect(await client.call('system.status')).toEqual({ method: 'system.status', params: {} });
  });

  test('a refusal is thrown with its code, text and data', async () => {
    const refused = client.call('keys.create', { name: '' });
    await expect(refused).rejects.toBeInstanceOf(RpcCallError);
    await expect(refused).rejects.toMatchObject({
      name: 'RpcCallError',
      code: -32_602,
      message: 'name',
      data: { issues: [{ path: 'name' }] },
    });
    await expect(client.call('auth.me')).rejects.toMatchObject({ code: -32_005, data: undefined });
  });

  test('many calls are in flight at once, and a slow one does not delay the others', async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const slow = client.call('keys.list');
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, offset) => client.call('usage.list', { offset })),
    );
    expect(answers).toEqual(
      [...answers.keys()].map((offset) => ({ method: 'usage.list', params: { offset } })),
    );
    release();
    expect(await slow).toEqual([]);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  test('a batch returns results in order, and a refused call does not stop the others', async () => {
    const [first, second, third] = await client.batch([
      { method: 'system.status' },
      { method: 'auth.me' },
      { method: 'usage.list', params: { limit: 1 } },
    ]);
    expect(first).toEqual({
      status: 'fulfilled',
      value: { method: 'system.status', params: {} },
    });
    expect(second).toEqual({ status: 'rejected', reason: expect.any(RpcCallError) });
    expect(third).toMatchObject({ status: 'fulfilled', value: { params: { limit: 1 } } });
    expect(await client.batch([])).toEqual([]);
  });

  test('an aborted call ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const call = client.call('keys.list', {}, { signal: controller.signal });
    const reason = new Error('no longer needed');
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
    await expect(client.call('keys.list', {}, { signal: controller.signal })).rejects.toBe(reason);
    release();
    expect(await client.call('system.status')).toMatchObject({ method: 'system.status' });
  });

  test('a call without a response ends after the timeout', async () => {
    const hasty = createClient(transport, { timeoutMs: TIMEOUT_MS });
    await expect(hasty.call('memory.status')).rejects.toMatchObject({
      name: 'RpcConnectionError',
      problem: 'timeout',
    });
    hasty.close();
  });

  test('closing the client ends calls in progress and refuses further ones', async () => {
    const call = client.call('keys.list');
    client.close();
    await expect(call).rejects.toMatchObject({ problem: 'closed' });
    await expect(client.call('system.status')).rejects.toMatchObject({ problem: 'closed' });
  });

  test('an unavailable service is a connection error', async () => {
    await server.close();
    await expect(client.call('system.status')).rejects.toBeInstanceOf(RpcConnectionError);
    server = await startTestRpcServer({ answer });
  });

  test('a copy of the response can be requested on a session', async () => {
    await client.call('system.status', {}, { sessionId: 'mine' });
    expect(server.headers.at(-1)).toMatchObject({ 'x-session-id': 'mine' });
    await client.batch([{ method: 'system.status' }], { sessionId: 'yours' });
    expect(server.headers.at(-1)).toMatchObject({ 'x-session-id': 'yours' });
  });
});
