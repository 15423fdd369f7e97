import { createHash } from 'node:crypto';
import { request as startRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { fullSize, waitUntil } from '@model-gateway/testkit';
import type { GpuAgent } from 'gpu-agent/app';
import { createNode, startScene, type Registered, type Scene } from './scene.ts';

let scene: Scene;
let node: Registered;
let daemon: GpuAgent;
let directUrl = '';

/** No server listens there, as if the node were behind NAT. */
const UNREACHABLE = '127.0.0.2';
const MODEL = 'meta/tiny model';
const STREAMS = fullSize(50, { small: 12 });
const LARGE_CHUNKS = fullSize(2_000, { small: 500 });
const CHUNK_BYTES = 8_000;

beforeAll(async () => {
  scene = await startScene();
  node = await scene.register('behind-nat', [UNREACHABLE]);
  daemon = createNode(scene, node.token, { host: UNREACHABLE });
  await daemon.start();
  await waitUntil(async () => (await scene.agent(node.agent_id)).online);
  const { stream_id } = await scene.call<{ stream_id: string }>('agents.deploy', {
    model_id: MODEL,
    agent_id: node.agent_id,
  });
  const stream = await scene.listen(stream_id);
  await stream.end();
  stream.close();
  const { models } = await scene.agent(node.agent_id);
  directUrl = `http://127.0.0.1:${models[0]?.port}`;
  // The gateway gets the backend a moment later.
  await waitUntil(async () => (await scene.chat(MODEL)).status === 200);
});
afterAll(async () => {
  await daemon.stop();
  await scene.close();
});

const relayUrl = (): string =>
  `${scene.tunnelUrl}/internal/agents/${node.agent_id}/${encodeURIComponent(MODEL)}`;

const bodyOf = (content: string, more: object = {}): string =>
  JSON.stringify({
    model: MODEL,
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content }],
    max_tokens: 40,
    ...more,
  });

/** Sends a request to the engine directly, or through the tunnel like a gateway; the body is not read. */
function send(base: string, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = startRequest(`${base}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${scene.test.context.agentTunnelKey}`,
      },
    });
    request.once('response', resolve);
    request.once('error', reject);
    request.end(body);
  });
}

test('the backend of an unreachable node uses the tunnel, and chats work', async () => {
  const [config] = await scene.test.context.database.backendConfigs.list();
  expect(config).toMatchObject({
    name: `agent-${MODEL}`,
    type: 'agent',
    url: `${relayUrl()}/v1`,
    apiKey: null,
  });
  const response = await scene.chat(MODEL);
  expect(await response.json()).toMatchObject({
    choices: [{ message: { content: 'you said: Hello!' } }],
  });
});

test('concurrent streams through gateway and tunnel are byte for byte what the engine sends', async () => {
  const results = await Promise.all(
    Array.from({ length: STREAMS }, async (_, index) => {
      const request = bodyOf(`question ${index}`, { delay_ms: 5, chunk_bytes: 10 * index + 1 });
      const [direct, through] = await Promise.all([
        send(directUrl, request).then((response) => text(response)),
        scene.chat(MODEL, JSON.parse(request) as Record<string, unknown>).then((got) => got.text()),
      ]);
      expect(direct).toMatch(/data: \[DONE\]\n\n$/);
      return { direct, through };
    }),
  );
  expect(results.filter(({ direct, through }) => direct !== through)).toEqual([]);
  expect(results).toHaveLength(STREAMS);
});

test('a large response arrives complete, and a slow reader does not stall the others', async () => {
  const large = bodyOf('large', { max_tokens: LARGE_CHUNKS, chunk_bytes: CHUNK_BYTES });
  const slow = await send(relayUrl(), large);
  slow.pause();
  await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const response = await send(relayUrl(), bodyOf(`quick ${index}`, { delay_ms: 2 }));
      expect(await text(response)).toMatch(/\[DONE\]\n\n$/);
    }),
  );
  const hash = (body: string): string => createHash('sha256').update(body).digest('hex');
  const direct = await text(await send(directUrl, large));
  expect(direct.length).toBeGreaterThan(LARGE_CHUNKS * CHUNK_BYTES);
  expect(hash(await text(slow))).toBe(hash(direct));
});

test('a large request arrives complete', async () => {
  const content = 'x'.repeat(2_000_000);
  const response = await scene.chat(MODEL, { messages: [{ role: 'user', content }] });
  const body = (await response.json()) as { choices: [{ message: { content: string } }] };
  expect(body.choices[0].message.content).toBe(`you said: ${content}`);
});

test('a client that disconnects ends the request at the engine', async () => {
  const endless = bodyOf('endless', { max_tokens: 1_000_000, delay_ms: 5 });
  const response = await send(relayUrl(), endless);
  await new Promise((resolve) => response.once('data', resolve));
  const metric = async (): Promise<string> => {
    const metrics = await (await fetch(`${scene.tunnelUrl}/metrics`)).text();
    return /^service_agent_tunnel_exchanges (\d+)/m.exec(metrics)?.[1] ?? '';
  };
  expect(await metric()).toBe('1');
  response.destroy();
  await waitUntil(async () => (await metric()) === '0');
});

test.each([
  ['no key', 401, () => relayUrl(), ''],
  ['another key', 401, () => relayUrl(), 'Bearer wrong'],
  [
    'an agent that is not connected',
    503,
    () => relayUrl().replace(node.agent_id, '5e5f3c1e-0000-4000-8000-000000000001'),
    undefined,
  ],
  ['a model that does not run there', 502, () => relayUrl().replace('tiny', 'huge'), undefined],
])('refused: %s', async (_why, status, url, authorization) => {
  const key = `Bearer ${scene.test.context.agentTunnelKey}`;
  const response = await fetch(`${url()}/v1/models`, {
    headers: { authorization: authorization ?? key },
  });
  expect(response.status).toBe(status);
});

test('a node that is deregistered during a response is disconnected immediately, with its engine', async () => {
  const stream = await scene.chat(MODEL, { stream: true, max_tokens: 1_000_000, delay_ms: 5 });
  const reader = stream.body?.getReader();
  await reader?.read();
  await scene.call('agents.deregister', { agent_id: node.agent_id });
  await expect(daemon.failed).rejects.toThrow('this node was deregistered');
  const readRest = async (): Promise<void> => {
    while ((await reader?.read())?.done === false);
  };
  // An answer that is not whole never looks whole.
  await expect(readRest()).rejects.toThrow('terminated');
  await waitUntil(async () => (await scene.chat(MODEL)).status === 404);
});
