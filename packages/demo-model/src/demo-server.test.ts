import OpenAI from 'openai';
import { DEMO_MODELS } from './demo-api.ts';
import { startDemoModel, type RunningDemo } from './demo-server.ts';

let demo: RunningDemo;
let client: OpenAI;
const question = {
  model: 'demo-chat',
  messages: [{ role: 'user' as const, content: 'How are you today?' }],
};
const post = (path: string, body: BodyInit, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${demo.url}/v1${path}`, {
    method: 'POST',
    body,
    headers: { authorization: 'Bearer secret', ...headers },
  });

beforeAll(async () => {
  demo = await startDemoModel({ apiKey: 'secret', tokenDelayMs: 1 });
  client = new OpenAI({ apiKey: 'secret', baseURL: `${demo.url}/v1`, maxRetries: 0 });
});
afterAll(() => demo.close());

test('the official client gets the same answer whole and streamed', async () => {
  const whole = await client.chat.completions.create(question);
  expect(whole.choices[0]?.message.content).toContain('"How are you today?"');
  const stream = await client.chat.completions.create({ ...question, stream: true });
  let text = '';
  for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  expect(text).toBe(whole.choices[0]?.message.content);
});

test('the models are listed, and each can be looked up', async () => {
  const { data } = await client.models.list();
  expect(data.map(({ id }) => id)).toEqual(DEMO_MODELS);
  expect(await client.models.retrieve('demo-embed')).toMatchObject({ id: 'demo-embed' });
  await expect(client.models.retrieve('other')).rejects.toMatchObject({ status: 404 });
});

test('an uploaded file is measured', async () => {
  const file = new File(['x'.repeat(100_000)], 'a.wav');
  const { text } = await client.audio.transcriptions.create({ model: 'demo-transcribe', file });
  expect(text).toContain('a file with 100000 bytes');
});

test.each([
  { why: 'a path that the API does not have', path: '/unknown', status: 404 },
  { why: 'a model that is unknown', path: '/chat/completions', body: '{"model":"x"}', status: 404 },
  { why: 'a body that is not JSON', path: '/chat/completions', body: '{', status: 404 },
  {
    why: 'a chat without messages',
    path: '/chat/completions',
    body: '{"model":"demo-chat"}',
    status: 400,
  },
  {
    why: 'a form without a boundary',
    path: '/audio/transcriptions',
    type: 'multipart/form-data',
    status: 400,
  },
])('$why is refused with $status', async ({ path, body = '{}', type, status }) => {
  const response = await post(path, body, { 'content-type': type ?? 'application/json' });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
});

test('a request without the key, and one of another client that left, do no harm', async () => {
  const anonymous = await fetch(`${demo.url}/v1/models`);
  expect(anonymous.status).toBe(401);
  const left = new AbortController();
  const response = await fetch(`${demo.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer secret' },
    body: JSON.stringify({ ...question, stream: true }),
    signal: left.signal,
  });
  await response.body?.getReader().read();
  left.abort();
  expect((await client.models.list()).data).not.toEqual([]);
});
