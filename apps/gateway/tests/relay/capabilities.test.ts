import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startRelayUpstream, type RelayUpstream } from './relay-upstream.ts';

const CAPABILITIES = ['completions', 'rerank', 'moderations', 'images', 'speech'];

let gateway: GatewayUnderTest;
let upstream: RelayUpstream;

beforeAll(async () => {
  gateway = await startGateway();
  upstream = await startRelayUpstream({ models: ['tool:latest'] });
  await register('up', { url: upstream.url, capabilities: CAPABILITIES });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

async function register(name: string, backend: object): Promise<void> {
  const response = await registerBackend(gateway, { type: 'external', name, ...backend });
  expect(response.status).toBe(200);
}

const headers = () => ({ authorization: `Bearer ${gateway.key}` });

test('the listing shows the capabilities of a model', async () => {
  const response = await fetch(`${gateway.url}/v1/models/tool:latest`, {
    headers: headers(),
  });
  expect(await response.json()).toMatchObject({ capabilities: CAPABILITIES });
});

test('a model whose backends do not declare a capability says how to declare it', async () => {
  await register('chatty', { url: upstream.url, models: ['chat-only'] });
  const response = await fetch(`${gateway.url}/v1/rerank`, {
    method: 'POST',
    headers: headers(),
    body: JSON.stringify({ model: 'chat-only', query: '', documents: [''] }),
  });
  expect(response.status).toBe(500);
  expect(response.headers.get('x-should-retry')).toBe('false');
  expect(await response.json()).toMatchObject({
    error: {
      code: 'backend_error',
      message:
        "no backend of the model 'chat-only' supports rerank; if its server does, add 'rerank' to the capabilities of its backend",
    },
  });
});

test('an unknown capability is refused with the known ones, and a kind that cannot pass is named', async () => {
  const unknown = await registerBackend(gateway, { capabilities: ['singing'] });
  expect(unknown.status).toBe(400);
  for (const known of [...CAPABILITIES, 'transcription', 'chat'])
    expect(await unknown.clone().text()).toMatch(new RegExp(`\\b${known}\\b`));
  const local = { type: 'local-server', url: upstream.url, capabilities: ['speech'] };
  const refused = await registerBackend(gateway, local);
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringContaining("use the kind 'external'") as string },
  });
});
