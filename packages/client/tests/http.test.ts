import { createRpcClient } from '../src/index.ts';
import { startTestRpcServer, type TestRpcServer } from './test-rpc-server.ts';

let server: TestRpcServer;

beforeAll(async () => {
  server = await startTestRpcServer({ answer: async ({ id }) => ({ result: { id } }) });
});
afterAll(() => server.close());

/** A client whose service always responds with this status and text. */
const answeredWith = (status: number, text: string) =>
  createRpcClient({ baseUrl: 'http://x', fetch: async () => new Response(text, { status }) });

test('the token is requested for each call', async () => {
  let count = 0;
  const client = createRpcClient({ baseUrl: server.url, token: async () => `token-${++count}` });
  await client.call('system.status');
  await client.call('system.status');
  expect(server.headers.slice(-2).map(({ authorization }) => authorization)).toEqual([
    'Bearer token-1',
    'Bearer token-2',
  ]);
  await createRpcClient({ baseUrl: server.url }).call('system.status');
  expect(server.headers.at(-1)).not.toHaveProperty('authorization');
});

test('every call has an id of 128 random bits', async () => {
  const client = createRpcClient({ baseUrl: server.url });
  const ids = await Promise.all([client.call('system.status'), client.call('system.status')]);
  expect(ids).toEqual([
    { id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    { id: expect.stringMatching(/^[0-9a-f]{32}$/) },
  ]);
  expect(ids[0]).not.toEqual(ids[1]);
});

test('an envelope is accepted with any HTTP status', async () => {
  const client = answeredWith(
    413,
    '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"request too large"}}',
  );
  const refused = { code: -32_600, message: 'request too large' };
  await expect(client.call('system.status')).rejects.toMatchObject(refused);
  await expect(client.batch([{ method: 'system.status' }])).rejects.toMatchObject(refused);
});

test.each([
  { why: 'a page of a proxy', status: 502, text: '<html>Bad gateway</html>' },
  { why: 'JSON that is not an envelope', status: 404, text: '{"error":{"message":"not found"}}' },
  { why: 'a batch response to a single call', status: 200, text: '[]' },
  { why: 'an empty body', status: 204, text: '' },
])('$why is a connection error', async ({ status, text }) => {
  const client = answeredWith(status === 204 ? 200 : status, text);
  await expect(client.call('system.status')).rejects.toMatchObject({
    name: 'RpcConnectionError',
    problem: 'bad-answer',
  });
});

test('a batch with a missing response is a connection error', async () => {
  await expect(answeredWith(200, '[]').batch([{ method: 'system.status' }])).rejects.toMatchObject({
    problem: 'bad-answer',
  });
});
