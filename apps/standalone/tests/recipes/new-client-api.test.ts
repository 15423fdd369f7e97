import { rpcCall } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { usageRows } from '../standalone.ts';
import { ADMIN_TOKEN, startChangedService, type ChangedService } from './changed-service.ts';

// The recipe "An API for clients" of CONTRIBUTING.md, followed for a toy: one folder and one line, and the built service has it.

let service: ChangedService;
let upstream: RunningChatUpstream;
let token: string;
let key: string;

beforeAll(async () => {
  upstream = await startChatUpstream({ models: ['m'] });
  service = await startChangedService({
    list: 'packages/dialects/src/apis.ts',
    module: 'packages/dialects/tests/toy-api/api.ts',
    name: 'toyApi',
  });
  const account = { email: 'ann@example.com', password: 'long enough' };
  const registered = await rpcCall(service.url, 'auth.register', account);
  ({ access_token: token } = registered.result as { access_token: string });
  const created = await rpcCall(service.url, 'keys.create', { name: 'test' }, token);
  ({ key } = created.result as { key: string });
  await fetch(`${service.url}/api/admin/backends`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify({ type: 'external', name: 'up', url: upstream.url }),
  });
});
afterAll(async () => {
  await service.close();
  await upstream.close();
});

const ask = (fields: object): Promise<Response> =>
  fetch(`${service.url}/v1/questions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'm', question: 'Are you there?', ...fields }),
  });

test('it answers whole and streamed, in its own form', async () => {
  const whole = await ask({});
  expect(whole.headers.get('x-service-backend')).toBe('up');
  const answer = (await whole.json()) as { readonly answer: string; readonly words: object };
  expect(answer).toEqual({
    answer: expect.stringMatching(/./),
    words: { read: expect.any(Number), written: expect.any(Number) },
  });
  const streamed = await ask({ stream: true });
  expect(streamed.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const events = (await streamed.text())
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace('data: ', '')) as Partial<typeof answer>);
  expect(events.map((event) => event.answer ?? '').join('')).toBe(answer.answer);
  expect(events.at(-1)).toEqual({ words: answer.words });
});

test('its refusals have its own form, of a body, a model and a key', async () => {
  const badBody = await ask({ question: 7 });
  expect(badBody.status).toBe(400);
  expect(await badBody.json()).toEqual({
    problem: expect.stringContaining('question'),
    id: badBody.headers.get('x-request-id'),
  });
  const unknown = await ask({ model: 'nothing' });
  expect(unknown.status).toBe(404);
  expect(await unknown.json()).toMatchObject({ problem: expect.stringContaining('nothing') });
});

test('it is metered and described', async () => {
  const rows = await usageRows(service.url, token, 2);
  expect(rows).toHaveLength(2);
  for (const row of rows) expect(row).toMatchObject({ model: 'm', upstream: 'up', status: 200 });
  const document: unknown = await (await fetch(`${service.url}/openapi.json`)).json();
  expect(document).toMatchObject({
    paths: { '/v1/questions': { post: { operationId: 'askQuestion' } } },
    components: { schemas: { Question: { type: 'object' }, Problem: { type: 'object' } } },
  });
});
