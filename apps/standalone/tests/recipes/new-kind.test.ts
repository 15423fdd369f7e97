import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { backendKindSchema } from '@model-gateway/contracts';
import { rpcCall } from '@model-gateway/testkit';
import { z } from 'zod';
import { usageRows } from '../standalone.ts';
import { ADMIN_TOKEN, startChangedService, type ChangedService } from './changed-service.ts';

// The recipe "A kind of backend" of CONTRIBUTING.md, followed for a toy: one folder and one line, and the built service has it.

const KEY = 'the key of the toy';

let service: ChangedService;
let upstream: Server;
let url: string;
let token: string;
let key: string;

beforeAll(async () => {
  upstream = createServer((request, response) => {
    if (request.headers['toy-key'] !== KEY) return void response.writeHead(401).end('who is it?');
    if (request.method === 'GET') return void response.end('["parrot"]');
    return void json(request).then((body) => {
      const { hears } = z.object({ to: z.literal('parrot'), hears: z.string() }).parse(body);
      for (const says of ['You said: ', hears]) response.write(`${JSON.stringify({ says })}\n`);
      response.end('{"heard":7,"said":3}\n');
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  service = await startChangedService({
    list: 'packages/backends/src/kinds.ts',
    module: 'packages/backends/tests/toy-kind/kind.ts',
    name: 'TOY',
  });
  const account = { email: 'ann@example.com', password: 'long enough' };
  const registered = await rpcCall(service.url, 'auth.register', account);
  ({ access_token: token } = registered.result as { access_token: string });
  const created = await rpcCall(service.url, 'keys.create', { name: 'test' }, token);
  ({ key } = created.result as { key: string });
});
afterAll(async () => {
  await service.close();
  upstream.close();
});

const admin = (method: string, body?: object): Promise<Response> =>
  fetch(`${service.url}/api/admin/backends`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const ask = (path: string, fields: object = {}): Promise<Response> =>
  fetch(`${service.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: 'parrot',
      messages: [{ role: 'user', content: 'Hello!' }],
      ...fields,
    }),
  });

test('it is registered by any of its names, checked and listed', async () => {
  const toy = { type: 'plaything', name: 'talker', url, api_key: KEY };
  const refused = await admin('POST', { ...toy, dialects: ['responses'] });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("not 'toy'");
  const registered = await admin('POST', toy);
  expect(await registered.json()).toMatchObject({ name: 'talker', type: 'toy', state: 'Healthy' });
  const listed = await (await admin('GET')).json();
  expect(listed).toMatchObject({
    backends: { health: [{ name: 'talker', type: 'toy', models: ['parrot'] }] },
  });
});

test('the console is told of it', async () => {
  const { result } = await rpcCall(service.url, 'backends.kinds', {}, token);
  const kinds = backendKindSchema.array().parse(result);
  expect(kinds.find(({ name }) => name === 'toy')).toMatchObject({
    title: 'Toy server',
    purpose: 'A server that answers in lines.',
    url_prefixes: ['https://', 'http://', 'bridge://'],
    api_key: { title: 'Toy key', is_usual: true },
    options: { properties: {} },
    facts: { is_free: true },
  });
});

test('it answers a chat, whole and streamed, to clients of every API', async () => {
  const whole = await ask('chat/completions');
  expect(whole.headers.get('x-service-backend')).toBe('talker');
  expect(await whole.json()).toMatchObject({
    choices: [{ message: { content: 'You said: Hello!' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 3 },
  });
  const streamed = await (await ask('chat/completions', { stream: true })).text();
  expect(streamed).toMatch(/"content":"You said: "[^]*"content":"Hello!"[^]*data: \[DONE\]/);
  const message = await ask('messages', { max_tokens: 100 });
  expect(await message.json()).toMatchObject({
    content: [{ type: 'text', text: 'You said: Hello!' }],
    usage: { input_tokens: 7, output_tokens: 3 },
  });
});

test('its answers are priced as its facts say', async () => {
  const rows = await usageRows(service.url, token, 3);
  const row = { upstream: 'talker', prompt_tokens: 7, completion_tokens: 3, cost: 0 };
  expect(rows).toHaveLength(3);
  for (const each of rows) expect(each).toMatchObject({ ...row, price: { source: 'local' } });
});
