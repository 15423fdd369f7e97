import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@model-gateway/kernel';
import type { BackendConfig } from '@model-gateway/router';
import { startChatUpstream } from '@model-gateway/testkit/upstreams';
import { resolveKind } from './backend-kind.ts';
import { createBackend } from './create-backend.ts';

const timeouts = { connectMs: 1_000, idleMs: 1_000, totalMs: 1_000 };
const config: BackendConfig = {
  name: 'any',
  type: 'external',
  url: 'http://127.0.0.1:9',
  apiKey: null,
  models: [],
  capabilities: null,
};
const create = (more: Partial<BackendConfig>) =>
  createBackend({ ...config, ...more }, { timeouts, clock: systemClock });

test.each([
  ['external', 'external'],
  ['llama_cpp', 'external'],
  ['vllm', 'external'],
  ['cloud', 'external'],
  ['external_api', 'external'],
  ['local-server', 'local-server'],
  ['ollama', 'local-server'],
  ['ollama-like', 'local-server'],
  ['engine', 'engine'],
  ['candle', 'engine'],
  ['native', 'engine'],
  ['cloud-video', 'cloud-video'],
])('the type %s means the kind %s', (type, kind) => {
  expect(resolveKind(type).name).toBe(kind);
});

test.each([
  ['comfyui', "backend type 'comfyui' was removed"],
  ['other', "unknown backend type 'other'"],
  // Only the service itself registers these.
  ['agent', "unknown backend type 'agent'"],
  ['toString', "unknown backend type 'toString'"],
  ['', "unknown backend type ''"],
])('the type %p is refused', (type, message) => {
  expect(() => resolveKind(type)).toThrow(
    expect.objectContaining({ code: 'unknown_type', message: expect.stringContaining(message) }),
  );
});

test.each([
  [{ type: 'external' }, ['chat', 'embeddings']],
  [{ type: 'local-server' }, ['chat', 'embeddings']],
  [{ type: 'engine', url: 'ws://127.0.0.1:9' }, []],
  [{ type: 'cloud-video' }, ['video']],
  [{ type: 'agent' }, ['chat', 'embeddings']],
  [{ type: 'external', capabilities: ['invoke', 'chat', 'other'] }, ['chat', 'invoke']],
  [{ type: 'engine', url: 'ws://127.0.0.1:9', capabilities: ['chat'] }, ['chat']],
  // A registration from before this was refused.
  [{ type: 'external', capabilities: ['chat', 'video'] }, ['chat']],
  [{ type: 'external', capabilities: ['speech', 'rerank'] }, ['rerank', 'speech']],
  [{ type: 'azure', models: ['gpt'], capabilities: ['images'] }, ['images']],
  [{ type: 'local-server', capabilities: ['chat', 'speech'] }, ['chat']],
])('%j can do %j', async (more, capabilities) => {
  const backend = create(more);
  expect([...backend.capabilities()]).toEqual(capabilities);
  await backend.close();
});

test('a model on a GPU node is served alone, whatever else its engine lists', async () => {
  const upstream = await startChatUpstream({ models: ['deployed', 'other'] });
  const backend = create({ type: 'agent', url: upstream.url, models: ['deployed'] });
  expect(backend.kind).toBe('agent');
  expect(await backend.probe(AbortSignal.timeout(60_000))).toMatchObject({
    state: 'Healthy',
    models: ['deployed'],
  });
  await backend.close();
  await upstream.close();
});

test.each([
  { status: 401, type: 'external', state: 'Healthy' },
  { status: 403, type: 'external', state: 'Healthy' },
  { status: 404, type: 'external', state: 'Healthy' },
  { status: 405, type: 'external', state: 'Healthy' },
  { status: 500, type: 'external', state: 'Healthy' },
  { status: 503, type: 'external', state: 'Healthy' },
  { status: 400, type: 'external', state: 'Degraded' },
  { status: 302, type: 'external', state: 'Degraded' },
  { status: 401, type: 'agent', state: 'Healthy' },
  { status: 403, type: 'agent', state: 'Healthy' },
  { status: 404, type: 'agent', state: 'Healthy' },
  { status: 405, type: 'agent', state: 'Healthy' },
  // Its engine is loading, or the tunnel does not reach it.
  { status: 503, type: 'agent', state: 'Degraded' },
])('$type with models is $state when its listing answers $status', async (row) => {
  const { status, type, state } = row;
  const upstream = await startChatUpstream();
  upstream.faults.always({ kind: 'status', status }, 'models');
  const backend = create({ type, url: upstream.url, models: ['named'] });
  const answered = `the models listing answered ${status}`;
  expect(await backend.probe(AbortSignal.timeout(60_000))).toEqual({
    state,
    models: ['named'],
    reason: state === 'Healthy' ? `models are not listed: ${answered}` : answered,
  });
  await backend.close();
  await upstream.close();
});

test('a backend without named models is Degraded when its listing fails, and Unhealthy without an answer', async () => {
  const upstream = await startChatUpstream();
  upstream.faults.always({ kind: 'status', status: 401 }, 'models');
  const backend = create({ url: upstream.url });
  expect(await backend.probe(AbortSignal.timeout(60_000))).toMatchObject({ state: 'Degraded' });
  await backend.close();
  await upstream.close();
  const away = create({ url: upstream.url, models: ['named'] });
  await expect(away.probe(AbortSignal.timeout(60_000))).rejects.toThrow('ECONNREFUSED');
  await away.close();
});

test('an external backend can do realtime once it lists a model that says so', async () => {
  const upstream = await startChatUpstream({ models: ['gpt-realtime'] });
  const backend = create({ url: upstream.url });
  expect(backend.capabilities().has('realtime')).toBe(false);
  await backend.probe(AbortSignal.timeout(60_000));
  expect([...backend.capabilities()]).toEqual(['chat', 'embeddings', 'realtime']);
  await backend.close();
  await upstream.close();
});

test.each([
  ['external', 'http://127.0.0.1:9', { takesTokenIds: true }],
  ['azure', 'http://127.0.0.1:9', { takesTokenIds: true }],
  ['anthropic', 'http://127.0.0.1:9', {}],
  ['gemini', 'http://127.0.0.1:9', {}],
  ['ollama', 'http://127.0.0.1:9', { isFree: true, listsAll: true }],
  ['engine', 'ws://127.0.0.1:9', { isFree: true }],
  ['cloud-video', 'http://127.0.0.1:9', {}],
  ['agent', 'http://127.0.0.1:9', { isFree: true, isBounded: true, takesTokenIds: true }],
])('what others must know of the type %s', async (type, url, facts) => {
  const backend = create({ type, url, models: ['m'] });
  expect(backend.facts).toEqual(facts);
  await backend.close();
});

test('a backend has them with each of its keys', async () => {
  const backend = create({ apiKeys: ['a', 'b'] });
  expect(backend.keys?.map(({ facts }) => facts)).toEqual([
    { takesTokenIds: true },
    { takesTokenIds: true },
  ]);
  await backend.close();
});

test('a URL must fit the kind', () => {
  expect(() => create({ type: 'engine' })).toThrow(expect.objectContaining({ code: 'bad_url' }));
  expect(() => create({ url: 'bridge://a/b' })).toThrow(
    expect.objectContaining({ code: 'bad_url' }),
  );
});

test.each([
  ['external', 'data', (id: string) => ({ id })],
  ['local-server', 'models', (name: string) => ({ name })],
])(
  'only the first 10,000 models that a server of the type %s lists are read',
  async (type, field, model) => {
    const listed = Array.from({ length: 10_001 }, (_, index) => model(`m${index}`));
    const server = createServer({ keepAliveTimeout: 0 }, (_request, response) => {
      response.end(JSON.stringify({ [field]: listed }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const backend = create({ type, url: `http://127.0.0.1:${port}` });
    const { models } = await backend.probe(AbortSignal.timeout(60_000));
    expect(models).toHaveLength(10_000);
    expect(models).not.toContain('m10000');
    await backend.close();
    server.close();
  },
);

test.each(['external', 'anthropic', 'azure', 'gemini'])(
  'a listing that is refused does not make %s with given models unroutable',
  async (type) => {
    const statuses = [401, 403, 404, 405, 503, 400];
    let status = 0;
    const server = createServer((_request, response) => response.writeHead(status).end('{}'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const backend = create({ type, url: `http://127.0.0.1:${port}`, models: ['m'] });
    const states: string[] = [];
    for (status of statuses) {
      const { state, models, reason } = await backend.probe(new AbortController().signal);
      expect({ models, reason }).toEqual({
        models: ['m'],
        reason: expect.stringContaining(`the models listing answered ${status}`) as string,
      });
      states.push(state);
    }
    expect(states).toEqual(['Healthy', 'Healthy', 'Healthy', 'Healthy', 'Healthy', 'Degraded']);
    await backend.close();
    server.close();
  },
);
