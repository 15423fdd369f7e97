import {
  startChatUpstream,
  startOllamaServer,
  type RunningChatUpstream,
  type RunningOllamaServer,
} from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;
let local: RunningOllamaServer;

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startChatUpstream({ models: ['m'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
  local = await startOllamaServer({ models: ['local'] });
  await registerBackend(gateway, { type: 'local-server', name: 'local', url: local.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
  await local.close();
});

const messages = [{ role: 'user', content: 'Hi' }];

const file = new Blob(['audio']);

const form = (fields: Readonly<Record<string, string | Blob>>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'string') data.set(name, value);
    else data.set(name, value, 'a.wav');
  return data;
};

test.each<[path: string, body: object, param: string]>([
  ['chat/completions', { messages }, 'model'],
  ['chat/completions', { model: 'm' }, 'messages'],
  ['chat/completions', { model: 'm', messages: [{ content: 'Hi' }] }, 'messages.0.role'],
  ['chat/completions', { model: 'm', messages, max_tokens: -5 }, 'max_tokens'],
  ['chat/completions', { model: 'local', messages, n: 2 }, 'n'],
  ['responses', { input: 'Hi' }, 'model'],
  ['responses', { model: 'm' }, 'input'],
  ['responses', { model: 'm', input: [{ type: 'message', role: 'x' }] }, 'input.0.role'],
  ['responses', { model: 'm', input: 'Hi', background: true }, 'background'],
  ['responses', { model: 'm', input: 'Hi', previous_response_id: 'a' }, 'previous_response_id'],
  ['embeddings', { model: 'm' }, 'input'],
  ['completions', { prompt: 'Hi' }, 'model'],
  ['completions', { model: 'm', prompt: 'Hi', n: 1000 }, 'n'],
  ['images/generations', { prompt: 'a cat' }, 'model'],
  ['audio/speech', { input: 'Hi' }, 'model'],
  ['audio/transcriptions', form({ file }), 'model'],
  ['audio/transcriptions', form({ model: 'm' }), 'file'],
  ['audio/translations', form({ file }), 'model'],
  ['moderations', { model: 5, input: 'Hi' }, 'model'],
  ['rerank', { query: 'a', documents: ['b'] }, 'model'],
])('an error of %s for %j has the field that its message names: %s', async (path, body, param) => {
  const response = await fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: body instanceof FormData ? body : JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error: { message: string; param: unknown } };
  expect(response.status).toBe(400);
  expect(error.message).toContain(param);
  expect(error.param).toBe(param);
});
