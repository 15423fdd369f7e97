import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway();
  upstream = await startChatUpstream({ models: ['real', 'other'] });
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const aliases = (method: string, body?: unknown) => admin(gateway, method, 'aliases', body);

async function servedModel(model: string): Promise<unknown> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  return ((await response.json()) as { model?: unknown }).model ?? response.status;
}

test('an alias is added, used, replaced, listed in order and removed', async () => {
  expect(await (await aliases('GET')).json()).toEqual({ aliases: [] });
  const added = await aliases('POST', { alias: 'short', target: 'real' });
  expect([added.status, await added.json()]).toEqual([
    200,
    { status: 'ok', message: 'alias added' },
  ]);
  expect(await servedModel('short')).toBe('real');
  await aliases('POST', { alias: 'short', target: 'other' });
  await aliases('POST', { alias: 'brief', target: 'short' });
  expect(await servedModel('short')).toBe('other');
  // One hop: an alias of an alias is not resolved.
  expect(await servedModel('brief')).toBe(404);
  expect(await (await aliases('GET')).json()).toEqual({
    aliases: [
      { alias: 'brief', target: 'short' },
      { alias: 'short', target: 'other' },
    ],
  });
  for (const alias of ['short', 'short', 'never-there']) {
    const removed = await aliases('DELETE', { alias });
    expect([removed.status, await removed.json()]).toEqual([
      200,
      { status: 'ok', message: 'alias removed' },
    ]);
  }
  expect(await servedModel('short')).toBe(404);
});

test.each([
  { method: 'POST', body: { target: 'real' }, code: 'missing_alias' },
  { method: 'POST', body: undefined, code: 'missing_alias' },
  { method: 'POST', body: { alias: 5, target: 'real' }, code: 'missing_alias' },
  { method: 'POST', body: { alias: 'a' }, code: 'missing_target' },
  { method: 'POST', body: { alias: 'a', target: ' ' }, code: 'missing_target' },
  { method: 'POST', body: { alias: 'a'.repeat(129), target: 'real' }, code: 'missing_fields' },
  { method: 'POST', body: { alias: 'a\u0000b', target: 'real' }, code: 'missing_fields' },
  { method: 'POST', body: { alias: 'a', target: 'real\ud800' }, code: 'missing_fields' },
  { method: 'POST', body: '{', code: 'invalid_json' },
  { method: 'POST', body: '[]', code: 'missing_fields' },
  { method: 'DELETE', body: {}, code: 'missing_alias' },
  { method: 'DELETE', body: undefined, code: 'missing_alias' },
])('$method with $body is refused with $code', async ({ method, body, code }) => {
  const response = await aliases(method, body);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request', code } });
});

test('missing fields are named', async () => {
  const message = async (body: unknown) =>
    ((await (await aliases('POST', body)).json()) as { error: { message: string } }).error.message;
  expect(await message({})).toBe("Missing 'alias' field");
  expect(await message({ alias: 'a' })).toBe("Missing 'target' field");
});

test('a body too large is refused', async () => {
  const response = await aliases('POST', { alias: 'a'.repeat(1_100_000) });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ error: { code: 'request_too_large' } });
});

test('another method is refused, and the allowed ones are named', async () => {
  const response = await aliases('PATCH', {});
  expect(response.status).toBe(405);
  expect(response.headers.get('allow')).toBe('GET, POST, DELETE');
  expect(await response.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
});
