import { openSocket, startRpc, type RpcServer } from '../rpc-server.ts';

const ERROR_BYTES_MAX = 16 * 1024;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;

let rpc: RpcServer;
let token = '';
beforeAll(async () => {
  rpc = await startRpc();
  ({ token } = await rpc.createAccount('admin@example.com'));
});
afterAll(() => rpc.test.close());

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly issues?: readonly { readonly path: string }[] };
  };
}

async function post(body: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${rpc.url}/api/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body,
  });
  return { status: response.status, text: await response.text() };
}

async function call(method: string, params: string, id = '1'): Promise<Answer> {
  const { text } = await post(
    `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`,
  );
  const answer = JSON.parse(text) as Answer;
  const bytesMax = answer.error === undefined ? Infinity : ERROR_BYTES_MAX;
  expect(Buffer.byteLength(text)).toBeLessThan(bytesMax);
  return answer;
}

const list = (count: number, element: string): string =>
  `[${Array.from({ length: count }, () => element).join(',')}]`;
const MESSAGE = '{"role":"user","content":"x"}';
const send = (fields: string): Promise<Answer> => call('chat.send', `{"model":"m",${fields}}`);

test.each([
  ['messages', `"messages":${list(10_001, '0')}`],
  ['messages', `"messages":${list(400_000, '0')}`],
  ['tools', `"messages":[${MESSAGE}],"tools":${list(1_025, '{}')}`],
  ['messages.0.images', `"messages":[{"role":"user","content":"","images":${list(1_025, '0')}}]`],
  [
    'messages.0.tool_calls',
    `"messages":[{"role":"assistant","content":"","tool_calls":${list(1_025, '0')}}]`,
  ],
])('too many %s are one problem, whatever the elements are', async (path, fields) => {
  const { error } = await send(fields);
  expect(error).toMatchObject({ code: -32_602 });
  expect(error?.data?.issues).toEqual([
    { path, message: expect.stringContaining('must have at most ') },
  ]);
});

test('as many messages and tools as are allowed are accepted', async () => {
  const { error } = await send(`"messages":${list(10_000, MESSAGE)},"tools":${list(1_024, '{}')}`);
  expect(error?.code).not.toBe(-32_602);
});

test.each([
  ['messages', `"messages":${list(10_000, '0')}`],
  ['messages with invalid fields', `"messages":${list(5_000, '{"role":"x","content":7}')}`],
  ['tools', `"messages":[${MESSAGE}],"tools":${list(1_000, '0')}`],
])('of many invalid %s the first twenty are reported', async (_what, fields) => {
  const { error } = await send(fields);
  expect(error).toMatchObject({ code: -32_602 });
  expect(error?.data?.issues).toHaveLength(20);
});

test.each([
  ['64 digits', '7'.repeat(64)],
  ['1,000 letters', `"${'a'.repeat(1_000)}"`],
])('an id of %s is repeated', async (_what, id) => {
  expect(await call('system.status', '{}', id)).toMatchObject({ id: id.replaceAll('"', '') });
});

test.each([
  ['65 digits', '7'.repeat(65)],
  ['a million digits', '7'.repeat(1_000_000)],
  ['a fraction of a million digits', `0.${'7'.repeat(1_000_000)}`],
  ['a million letters', `"${'a'.repeat(1_000_000)}"`],
  ['a large object', `{"a":"${'a'.repeat(1_000_000)}"}`],
])('an id of %s is an invalid request', async (_what, id) => {
  expect(await call('system.status', '{}', id)).toEqual({
    jsonrpc: '2.0',
    id: null,
    error: { code: -32_600, message: 'Invalid request' },
  });
});

test.each([
  ['a long method name', () => call('a'.repeat(1_000_000), '{}')],
  ['a method name of control characters', () => call('\u0001'.repeat(100_000), '{}')],
  [
    'a long field name',
    () =>
      rpc.call(
        'billing.video.pricing.set',
        { model: 'm', resolution_coeff: { ['\u0001'.repeat(100_000)]: 0 } },
        'the admin token of the tests',
      ),
  ],
])('the error about %s is small', async (_what, refused) => {
  const { error } = await refused();
  expect(error?.code).toBeLessThan(0);
  expect(JSON.stringify(error).length).toBeLessThan(ERROR_BYTES_MAX);
});

test('the responses to a batch have 8 MiB together; the other requests are refused', async () => {
  const { text } = await post(
    list(1_000, '{"jsonrpc":"2.0","id":"discover","method":"rpc.discover"}'),
  );
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(BATCH_BYTES_MAX);
  const answers = JSON.parse(text) as readonly Answer[];
  expect(answers).toHaveLength(1_000);
  const firstRefused = answers.findIndex(({ error }) => error !== undefined);
  expect(firstRefused).toBeGreaterThan(10);
  expect(answers.slice(firstRefused)).toEqual(
    Array.from({ length: 1_000 - firstRefused }, () => ({
      jsonrpc: '2.0',
      id: 'discover',
      error: { code: -32_000, message: 'batch answer too large' },
    })),
  );
});

test('a request of a batch that is refused for the size of the others is not executed', async () => {
  const discover = '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}';
  const create = '{"jsonrpc":"2.0","id":2,"method":"keys.create","params":{"name":"late"}}';
  await post(`[${Array.from({ length: 999 }, () => discover).join(',')},${create}]`);
  const { result } = await call('keys.list', '{}');
  expect(result).toEqual([]);
  await post(`[${discover},${create}]`);
  expect((await call('keys.list', '{}')).result).toMatchObject([{ name: 'late' }]);
});

test.each([
  ['values', `{"jsonrpc":"2.0","id":1,"method":"chat.send","params":${list(340_000, '[]')}}`],
  ['levels', '['.repeat(500_000) + ']'.repeat(500_000)],
])('a message with too many %s is refused before it is parsed', async (_what, body) => {
  const { status, text } = await post(body);
  expect(status).toBe(413);
  expect(JSON.parse(text)).toMatchObject({ id: null, error: { code: -32_600 } });
  const socket = await openSocket(rpc.url, token);
  socket.send(body);
  expect(JSON.parse(await socket.next())).toMatchObject({ id: null, error: { code: -32_600 } });
  expect(await socket.call('auth.me')).toMatchObject({ result: { email: 'admin@example.com' } });
  socket.socket.close();
});

test('a socket gets the responses to a large batch', async () => {
  const socket = await openSocket(rpc.url, token);
  socket.send(list(1_000, '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}'));
  expect(JSON.parse(await socket.next())).toHaveLength(1_000);
  expect(await socket.call('auth.me')).toMatchObject({ result: { email: 'admin@example.com' } });
  socket.socket.close();
});
