import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import { fullSize, fullTable, waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const ERROR_BYTES_MAX = 16 * 1024;
const MEBIBYTE = 1024 * 1024;

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_MAX_BODY_BYTES: String(32 * MEBIBYTE),
    SERVICE_API_RATE_LIMIT_RPM: '1000',
    // One large answer at a time.
    SERVICE_UPSTREAM_ANSWERS_BYTES_MAX: '1024',
  });
  upstream = await startChatUpstream({ models: ['demo-chat'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const post = (path: string, body: string): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body,
  });

async function refusalOf(response: Response): Promise<Refusal> {
  const text = await response.text();
  expect(Buffer.byteLength(text)).toBeLessThan(ERROR_BYTES_MAX);
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

const list = (count: number, element: string): string =>
  `[${Array.from({ length: count }, () => element).join(',')}]`;
const MESSAGE = '{"role":"user","content":"x"}';
const chat = (fields: string): Promise<Response> =>
  post('/v1/chat/completions', `{"model":"demo-chat",${fields}}`);
const embed = (input: string): Promise<Response> =>
  post('/v1/embeddings', `{"model":"demo-chat","input":${input}}`);

const TOO_MANY = [
  ['messages', `"messages":${list(10_001, '0')}`],
  ['tools', `"messages":[${MESSAGE}],"tools":${list(1_025, '{}')}`],
  ['messages.0.images', `"messages":[{"role":"user","content":"","images":${list(1_025, '0')}}]`],
  ['messages', `"messages":${list(1_200_000, '0')}`],
] as const;

test.each(fullTable(TOO_MANY, { small: 3 }))(
  'too many %s are refused, whatever the elements are',
  async (path, fields) => {
    expect(await refusalOf(await chat(fields))).toEqual({
      status: 400,
      code: 'missing_fields',
      message: expect.stringMatching(`^'${path}': must have at most `),
    });
  },
);

test('as many messages and tools as are allowed are served', async () => {
  const tool = '{"type":"function","function":{"name":"f"}}';
  const fields = `"messages":${list(10_000, MESSAGE)},"tools":${list(1_024, tool)}`;
  expect((await chat(fields)).status).toBe(200);
});

test.each([
  { path: 'messages', body: `"max_tokens":1,"messages":${list(10_001, MESSAGE)}` },
  { path: 'responses', body: `"input":${list(10_001, MESSAGE)}` },
])('too many messages are refused by /v1/$path', async ({ path, body }) => {
  const refused = await post(`/v1/${path}`, `{"model":"demo-chat",${body}}`);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toMatch(/at most 10000 (entries|items)/);
});

const INVALID = [
  ['messages', `"messages":${list(10_000, '0')}`, `'messages.0': `],
  [
    'content parts',
    `"messages":${list(100, `{"role":"user","content":${list(9_000, '0')}}`)}`,
    `'messages.0.content': `,
  ],
  [
    'images',
    `"messages":${list(100, `{"role":"user","content":"","images":${list(1_000, '{}')}}`)}`,
    `'messages.0.images.0': `,
  ],
] as const;

test.each(fullTable(INVALID, { small: 2 }))(
  'many invalid %s are refused with the first one',
  async (_what, fields, start) => {
    const refusal = await refusalOf(await chat(fields));
    expect(refusal).toMatchObject({ status: 400, code: 'missing_fields' });
    expect(refusal.message.startsWith(start)).toBe(true);
  },
);

const fieldsTo = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"field${index}":0`).join(',');

test('unknown fields are forwarded, up to a limit', async () => {
  expect((await chat(`"messages":[${MESSAGE}],${fieldsTo(998)}`)).status).toBe(200);
  expect(upstream.requests.at(-1)?.body).toMatchObject({ field0: 0, field997: 0 });
  expect(await refusalOf(await chat(`"messages":[${MESSAGE}],${fieldsTo(999)}`))).toEqual({
    status: 400,
    code: 'missing_fields',
    message: 'the request body: must have at most 1000 fields',
  });
  for (const name of ['extra', 'tools.0']) {
    const object = `{${fieldsTo(1_001)}}`;
    const field = name === 'extra' ? `"extra":${object}` : `"tools":[${object}]`;
    expect(await refusalOf(await chat(`"messages":[${MESSAGE}],${field}`))).toMatchObject({
      status: 400,
      message: `'${name}': must have at most 1000 fields`,
    });
  }
});

const BAD_INPUTS = [
  ['too many texts', list(100_001, '"a"')],
  ['negative tokens', list(100, list(1_000, '-1'))],
  ['texts that are none', list(100_000, 'null')],
] as const;

test.each(fullTable(BAD_INPUTS, { small: 2 }))(
  'an embeddings input of %s is refused',
  async (_what, input) => {
    expect(await refusalOf(await embed(input))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^'input(\.0\.0)?': /),
    });
  },
);

test('token ids are accepted in large numbers', async () => {
  expect((await embed(list(500_000, '7'))).status).toBe(200);
});

test.each([
  ['empty objects', `"messages":${list(1_000_000, '{}')}`],
  ['levels', `"messages":[${MESSAGE}],"extra":${'['.repeat(200_000)}${']'.repeat(200_000)}`],
])('a body with too many %s is refused before it is parsed', async (_what, fields) => {
  expect(await refusalOf(await chat(fields))).toEqual({
    status: 413,
    code: 'request_too_large',
    message: 'the request body has too many or too deeply nested values',
  });
});

test('a large image is served', async () => {
  const image = JSON.stringify(
    Buffer.alloc(fullSize(20, { small: 6 }) * MEBIBYTE, 7).toString('base64'),
  );
  const fields = `"messages":[{"role":"user","content":"x","images":[${image}]}]`;
  expect((await chat(fields)).status).toBe(200);
});

test('base64 with millions of padding characters is refused at once', async () => {
  const padding = `${'='.repeat(4 * MEBIBYTE)}AAAA`;
  const image = { data_base64: padding, mime_type: 'image/png' };
  const body = JSON.stringify({ model: 'demo-chat', prompt: 'x', images: [image] });
  expect(await refusalOf(await post('/v1/video/generations', body))).toMatchObject({
    status: 400,
    message: "'images.0.data_base64': must be base64",
  });
});

test.each(['chat/completions', 'embeddings'])(
  '%s refuses a model name without end',
  async (path) => {
    const fields = { messages: [{ role: 'user', content: 'x' }], input: 'x' };
    const named = (model: string) => post(`/v1/${path}`, JSON.stringify({ model, ...fields }));
    expect((await named('m'.repeat(1_024))).status).toBe(404);
    expect((await named('m'.repeat(1_025))).status).toBe(400);
  },
);

test('references of a usage query are counted before they are read', async () => {
  const refused = await admin(gateway, 'POST', 'usage/query', `{"ref_ids":${list(1_001, '0')}}`);
  expect(await refusalOf(refused)).toMatchObject({ status: 400 });
  const served = await admin(gateway, 'POST', 'usage/query', `{"ref_ids":${list(1_000, '"a"')}}`);
  expect(served.status).toBe(200);
});

test('an unknown path is named in a small error', async () => {
  // `fetch` would encode the quotes, which take twice the space in JSON.
  const asked = request(`${gateway.url}/v1`, { path: `/v1/${'"'.repeat(14_000)}` }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  const text = await readAll(response);
  expect(response.statusCode).toBe(404);
  expect(Buffer.byteLength(text)).toBeLessThan(ERROR_BYTES_MAX);
  expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_found' } });
});

/** An upstream whose answers do not fit into the buffers of a connection. */
async function startLargeUpstream() {
  const message = { role: 'assistant', content: 'x'.repeat(16 * MEBIBYTE) };
  const completion = { choices: [{ index: 0, message, finish_reason: 'stop' }] };
  const server = createServer({ keepAliveTimeout: 0 }, (asked, response) => {
    asked.resume();
    const isListing = asked.url === '/v1/models';
    response.on('error', () => undefined);
    response.end(JSON.stringify(isListing ? { data: [{ id: 'large' }] } : completion));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

test('large answers together take a limited memory: the next one waits until a client has its own', async () => {
  const { url, server } = await startLargeUpstream();
  await registerBackend(gateway, { type: 'external', name: 'large', url });
  const body = `{"model":"large","messages":[${MESSAGE}]}`;
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
  };
  const headers = { authorization: `Bearer ${gateway.key}` };
  const slow = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers }).end(body);
  // Its client does not read it.
  await once(slow, 'response');
  expect(await metric('service_upstream_answer_bytes')).toBeGreaterThan(16 * MEBIBYTE);
  const second = post('/v1/chat/completions', body);
  await waitUntil(async () => (await metric('service_upstream_answers_waiting')) === 1);
  // Small ones do not wait.
  expect((await chat(`"messages":[${MESSAGE}]`)).status).toBe(200);
  slow.destroy();
  const served = await second;
  expect(served.status).toBe(200);
  expect((await served.text()).length).toBeGreaterThan(16 * MEBIBYTE);
  await waitUntil(async () => (await metric('service_upstream_answer_bytes')) === 0);
  server.close();
  server.closeAllConnections();
});
