import { chatTurn } from '@model-gateway/dialects';
import { systemClock } from '@model-gateway/kernel';
import type { Backend } from '@model-gateway/router';
import { startRecordedServer, type RecordedServer } from '@model-gateway/testkit/upstreams';
import { createBackend } from '../factory/create-backend.ts';

const timeouts = { connectMs: 5_000, idleMs: 30_000, totalMs: 30_000 };
const signal = new AbortController().signal;
const body = { model: 'gemini-2.5-pro', messages: [{ role: 'user', content: 'Hi' }] };

let server: RecordedServer;
let backend: Backend;
beforeAll(async () => {
  server = await startRecordedServer();
  const config = { name: 'g', type: 'gemini', url: server.url, apiKey: 'the key' };
  backend = createBackend(
    { ...config, models: [], capabilities: null },
    { timeouts, clock: systemClock },
  );
});
afterAll(async () => {
  await backend.close();
  await server.close();
});

test('a refused key, which is a 400 there, is what it is elsewhere', async () => {
  const error = {
    code: 400,
    message: 'API key not valid. Please pass a valid API key.',
    status: 'INVALID_ARGUMENT',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
      },
    ],
  };
  const refused = { status: 400, body: JSON.stringify({ error }, null, 2) };
  const failure = { code: 'upstream_auth', status: 401 };
  server.answer(':generateContent', refused);
  await expect(backend.chat?.(chatTurn(body), signal)).rejects.toMatchObject(failure);
  server.answer(':streamGenerateContent', refused);
  await expect(backend.chatStream?.(chatTurn(body), signal)).rejects.toMatchObject(failure);
  server.answer('/models', refused);
  await expect(backend.probe(signal)).resolves.toMatchObject({
    reason: expect.stringContaining('401') as string,
  });
  const other = JSON.stringify({ error: { ...error, message: '"API_KEY_INVALID"', details: [] } });
  server.answer(':generateContent', { status: 400, body: other });
  await expect(backend.chat?.(chatTurn(body), signal)).rejects.toMatchObject({ status: 400 });
});

test('when to try again is in the body', async () => {
  const error = {
    code: 429,
    message: 'You exceeded your current quota.',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33.2s' }],
  };
  const refused = { status: 429, body: JSON.stringify({ error }, null, 2) };
  const failure = { isRateLimit: true, retryAfterSecs: 34 };
  server.answer(':generateContent', refused);
  await expect(backend.chat?.(chatTurn(body), signal)).rejects.toMatchObject(failure);
  server.answer(':streamGenerateContent', refused);
  await expect(backend.chatStream?.(chatTurn(body), signal)).rejects.toMatchObject(failure);
});
