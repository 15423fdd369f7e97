import { chatTurn } from '@model-gateway/dialects';
import { systemClock } from '@model-gateway/kernel';
import type { BackendConfig } from '@model-gateway/router';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import { createBackend } from '../factory/create-backend.ts';
import { completionIn } from '../../tests/read-chunks.ts';

const timeouts = { connectMs: 5_000, idleMs: 30_000, totalMs: 30_000 };
const signal = new AbortController().signal;
const messages = [{ role: 'user', content: 'Hi' }];

let server: RecordedServer;
beforeAll(async () => {
  server = await startRecordedServer();
});
afterAll(() => server.close());

const open = (more: Partial<BackendConfig> = {}) =>
  createBackend(
    {
      name: 'az',
      type: 'azure',
      url: server.url,
      apiKey: 'the key',
      models: ['my gpt'],
      capabilities: null,
      ...more,
    },
    { timeouts, clock: systemClock },
  );

test('a model is a deployment in the path, with the version and the key of Azure', async () => {
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
  ];
  server.answer('/chat/completions', {
    body: JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'gpt', choices }),
  });
  const backend = open();
  const answer = await backend.chat?.(chatTurn({ model: 'my gpt', messages }), signal);
  expect(completionIn(answer).choices).toEqual(choices);
  expect(server.requests.at(-1)).toMatchObject({
    url: '/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21',
    headers: { 'api-key': 'the key' },
  });
  server.answer('/embeddings', { body: '{"data":[{"index":0,"embedding":[1]}]}' });
  await backend.embed?.({ model: 'my gpt', input: ['a'] }, signal);
  expect(server.requests.at(-1)?.url).toBe(
    '/openai/deployments/my%20gpt/embeddings?api-version=2024-10-21',
  );
  server.answer('/audio/speech', { body: 'audio' });
  const speech = { model: 'my gpt', path: '/audio/speech', content: { json: { input: 'Hi' } } };
  await backend.relay?.(speech, signal);
  expect(server.requests.at(-1)?.url).toBe(
    '/openai/deployments/my%20gpt/audio/speech?api-version=2024-10-21',
  );
  await backend.close();
});

test('the version of the URL is kept', async () => {
  const backend = open({ url: `${server.url}/openai/?api-version=2025-01-01` });
  await backend.chatStream?.(chatTurn({ model: 'my gpt', messages }), signal);
  expect(server.requests.at(-1)?.url).toBe(
    '/openai/deployments/my%20gpt/chat/completions?api-version=2025-01-01',
  );
  await backend.close();
});

test('it serves its deployments, whatever base models are listed', async () => {
  server.answer('/openai/models', { body: '{"data":[{"id":"gpt-4o"}]}' });
  const backend = open();
  await expect(backend.probe(signal)).resolves.toEqual({ state: 'Healthy', models: ['my gpt'] });
  server.answer('/openai/models', { status: 401, body: '{}' });
  await expect(backend.probe(signal)).resolves.toEqual({
    state: 'Healthy',
    models: ['my gpt'],
    reason: 'models are not listed: the models listing answered 401',
  });
  expect(backend.kind).toBe('azure');
  await backend.close();
});

test('it needs the names of its deployments', () => {
  expect(() => open({ models: [] })).toThrow("'models'");
});
