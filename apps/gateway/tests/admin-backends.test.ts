import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createGateway } from '../src/app.ts';
import { readGatewayConfig } from '../src/config.ts';
import { registerBackend, startGateway, type GatewayUnderTest } from './gateway.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway();
  upstream = await startChatUpstream({ models: ['m'], apiKey: 'upstream secret' });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

test('a backend is registered, kept with its key encrypted, and served after a restart', async () => {
  const backend = { type: 'vllm', name: 'kept', url: upstream.url, api_key: 'upstream secret' };
  const response = await registerBackend(gateway, backend);
  expect(await response.json()).toEqual({
    status: 'ok',
    message: 'backend registered',
    name: 'kept',
    type: 'external',
    url: upstream.url,
    index: 0,
  });
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  const second = await gateway.test.serve(createGateway(config, gateway.test.context));
  const chat = (base: string) =>
    fetch(`${base}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    });
  expect((await chat(gateway.url)).status).toBe(200);
  expect((await chat(second)).status).toBe(200);
});

test.each([
  {
    why: 'an unknown type',
    backend: { type: 'magic' },
    code: 'unknown_type',
    message: "unknown backend type 'magic'",
  },
  {
    why: 'an inherited name',
    backend: { type: 'constructor' },
    code: 'unknown_type',
    message: "unknown backend type 'constructor'",
  },
  {
    why: 'a removed type',
    backend: { type: 'comfyui' },
    code: 'unknown_type',
    message: "backend type 'comfyui' was removed",
  },
  {
    why: 'a URL of another scheme',
    backend: { type: 'external', url: 'file:///etc/passwd' },
    code: 'bad_url',
    message: expect.any(String),
  },
  {
    why: 'a field of a wrong type',
    backend: { type: 'external', models: 'm' },
    code: 'missing_fields',
    message: expect.stringContaining("'models'"),
  },
])('$why is refused', async ({ backend, code, message }) => {
  const response = await registerBackend(gateway, backend);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { type: 'invalid_request', code, message },
  });
});

test.each(['wrong', ''])('the bearer %p is not the admin token', async (token) => {
  const response = await registerBackend(gateway, { type: 'external' }, token);
  expect(response.status).toBe(401);
  expect(await response.json()).toEqual({
    error: {
      message: 'admin access required',
      type: 'auth_error',
      code: 'unauthorized',
      param: null,
    },
  });
});

test('without a configured admin token nobody is admitted', async () => {
  const config = readGatewayConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  const url = await gateway.test.serve(createGateway(config, gateway.test.context));
  const response = await registerBackend({ ...gateway, url }, { type: 'external' }, 'undefined');
  expect(response.status).toBe(401);
});
