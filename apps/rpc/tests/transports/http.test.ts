import { gzipSync } from 'node:zlib';
import { startRpc, type RpcServer } from '../rpc-server.ts';

let rpc: RpcServer;
let token = '';
beforeAll(async () => {
  rpc = await startRpc();
  ({ token } = await rpc.createAccount('admin@example.com'));
});
afterAll(() => rpc.test.close());

async function post(body: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${rpc.url}/api/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text: await response.text(),
  };
}

test.each([
  ['9007199254740993', '9007199254740993'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['"a\\u0000b"', '"a\\u0000b"'],
  ['null', 'null'],
  ['9223372036854775808', '"9223372036854775808"'],
  ['1.0', '"1.0"'],
  ['1e3', '"1e3"'],
  ['true', '"true"'],
  ['{"a":1}', '"{\\"a\\":1}"'],
  ['[1]', '"[1]"'],
])('the id %s is echoed as %s, with a result and with an error', async (id, echo) => {
  const good = await post(`{"jsonrpc":"2.0","id":${id},"method":"system.status"}`);
  expect(good.text.startsWith(`{"jsonrpc":"2.0","id":${echo},"result":{`)).toBe(true);
  const bad = await post(`{"method":"no.such","id":${id},"jsonrpc":"2.0"}`);
  expect(bad.text.startsWith(`{"jsonrpc":"2.0","id":${echo},"error":{`)).toBe(true);
});

test('a request without an id is executed and gets a response with id null', async () => {
  const { text } = await post('{"jsonrpc":"2.0","method":"system.status"}');
  expect(JSON.parse(text)).toMatchObject({
    id: null,
    result: { requests_total: expect.any(Number) },
  });
});

test.each([
  { why: 'invalid JSON', body: 'hello', code: -32_700 },
  { why: 'an empty body', body: '', code: -32_700 },
  { why: 'a number', body: '7', code: -32_600 },
  { why: 'no method', body: '{"jsonrpc":"2.0","id":1}', code: -32_600 },
  { why: 'a method that is not a string', body: '{"jsonrpc":"2.0","method":1}', code: -32_600 },
  { why: 'another version', body: '{"jsonrpc":"1.0","method":"system.status"}', code: -32_600 },
  {
    why: 'params that are a text',
    body: '{"jsonrpc":"2.0","method":"system.status","params":"x"}',
    code: -32_600,
  },
  {
    why: 'params that are a list',
    body: '{"jsonrpc":"2.0","method":"system.status","params":[]}',
    code: -32_602,
  },
  { why: 'an unknown method', body: '{"jsonrpc":"2.0","method":"toString"}', code: -32_601 },
  {
    why: 'the probe of anonymous sockets',
    body: '{"jsonrpc":"2.0","method":"system.probe"}',
    code: -32_601,
  },
  { why: 'an empty batch', body: '[]', code: -32_600 },
])('$why gets HTTP 200 and $code', async ({ body, code }) => {
  const { status, type, text } = await post(body);
  expect(status).toBe(200);
  expect(type).toContain('application/json');
  expect(JSON.parse(text)).toMatchObject({
    jsonrpc: '2.0',
    error: { code, message: expect.any(String) },
  });
});

test('invalid params name the first failing field and list all of them', async () => {
  const { error } = await rpc.call('auth.register', { email: 'x', password: 'y' });
  expect(error).toMatchObject({
    code: -32_602,
    message: expect.stringContaining("'email'"),
    data: { issues: [{ path: 'email' }, { path: 'password' }] },
  });
});

test.each([
  {
    why: 'an unknown method before authentication',
    method: 'no.such',
    bearer: undefined,
    code: -32_601,
  },
  {
    why: 'authentication before the role',
    method: 'agents.list',
    bearer: undefined,
    code: -32_005,
  },
  {
    why: 'authentication before params',
    method: 'agents.deploy',
    bearer: 'nonsense',
    code: -32_005,
  },
  { why: 'the role before params', method: 'agents.deploy', bearer: 'member', code: -32_007 },
  {
    why: 'the admin token before params',
    method: 'billing.plan.set',
    bearer: 'member',
    code: -32_005,
  },
  { why: 'params last', method: 'agents.deploy', bearer: 'admin', code: -32_602 },
])('$why', async ({ method, bearer, code }) => {
  const member =
    bearer === 'member' ? (await rpc.createAccount(`m${Date.now()}@example.com`)).token : bearer;
  const { error } = await rpc.call(method, { wrong: true }, bearer === 'admin' ? token : member);
  expect(error?.code).toBe(code);
});

test('the error of an admin method contains its summary', async () => {
  const member = await rpc.createAccount('plain@example.com');
  const { error } = await rpc.call('agents.list', {}, member.token);
  expect(error?.message).toContain('agents.list');
});

test('a batch returns responses in order, with a separate error for an invalid element', async () => {
  const { text } = await post(
    JSON.stringify([
      { jsonrpc: '2.0', id: 'a', method: 'system.status' },
      7,
      { jsonrpc: '2.0', id: 'b', method: 'no.such' },
      { jsonrpc: '2.0', method: 'system.status' },
    ]),
  );
  expect(JSON.parse(text)).toMatchObject([
    { id: 'a', result: {} },
    { id: null, error: { code: -32_600 } },
    { id: 'b', error: { code: -32_601 } },
    { id: null, result: {} },
  ]);
});

test('a batch of a hundred runs one after another: a key created by one element is listed by the next', async () => {
  const pairs = Array.from({ length: 50 }, (_, index) => [
    {
      jsonrpc: '2.0',
      id: `create-${index}`,
      method: 'keys.create',
      params: { name: `key ${index}` },
    },
    { jsonrpc: '2.0', id: `list-${index}`, method: 'keys.list' },
  ]).flat();
  const { text } = await post(JSON.stringify(pairs), { authorization: `Bearer ${token}` });
  const responses = JSON.parse(text) as { id: string; result: unknown }[];
  expect(responses.map(({ id }) => id)).toEqual(pairs.map(({ id }) => id));
  const lists = responses
    .filter(({ id }) => id.startsWith('list-'))
    .map(({ result }) => (result as unknown[]).length);
  expect(lists).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
});

test('a body of more than 1 MiB is refused with 413 and an envelope', async () => {
  const large = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'system.status',
    params: { x: 'x'.repeat(1024 * 1024) },
  });
  const { status, text } = await post(large);
  expect(status).toBe(413);
  expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_600 } });
});

test('a compressed body is read, bounded after decompression, and refused in an unknown encoding', async () => {
  const send = async (text: string, encoding: string) => {
    const body = gzipSync(text);
    const headers = { 'content-encoding': encoding };
    const response = await fetch(`${rpc.url}/api/rpc`, { method: 'POST', headers, body });
    return { status: response.status, answer: await response.json() };
  };
  const call = (x: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"system.status","params":{"x":"${x}"}}`;
  expect(await send(call(''), 'gzip')).toMatchObject({ status: 200, answer: { id: 1 } });
  const refused = { id: null, error: { code: -32_600 } };
  const large = await send(call('x'.repeat(1024 * 1024)), 'gzip');
  expect(large).toMatchObject({ status: 413, answer: refused });
  expect(await send(call(''), 'compress')).toMatchObject({ status: 415, answer: refused });
});

test('a body of exactly 1 MiB is accepted', async () => {
  const request = (filler: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"system.status","params":{"x":"${filler}"}}`;
  const { status } = await post(request('x'.repeat(1024 * 1024 - request('').length)));
  expect(status).toBe(200);
});

test.each(['GET', 'PUT', 'DELETE'])('%s is refused with 405', async (method) => {
  const response = await fetch(`${rpc.url}/api/rpc`, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('POST');
});

test('rpc.discover lists the 57 methods and the extensions, and needs no token', async () => {
  const { result } = await rpc.call('rpc.discover');
  const { methods } = result as { methods: readonly object[] };
  expect(methods.filter((method) => !('x-extension' in method))).toHaveLength(57);
});

test('the bearer word may be in any case', async () => {
  const { text } = await post('{"jsonrpc":"2.0","id":1,"method":"keys.list"}', {
    authorization: `BEARER ${token}`,
  });
  expect(JSON.parse(text)).toHaveProperty('result');
});
