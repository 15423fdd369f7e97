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
  expect(resolveKind(type)).toBe(kind);
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
])('%j can do %j', async (more, capabilities) => {
  const backend = create(more);
  expect([...backend.capabilities()]).toEqual(capabilities);
  await backend.close();
});

test('a model on a GPU node is served alone, whatever else its engine lists', async () => {
  const upstream = await startChatUpstream({ models: ['deployed', 'other'] });
  const backend = create({ type: 'agent', url: upstream.url, models: ['deployed'] });
  expect(backend.kind).toBe('agent');
  expect(await backend.probe(AbortSignal.timeout(60_000))).toEqual({
    state: 'Healthy',
    models: ['deployed'],
  });
  await backend.close();
  await upstream.close();
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

test('a URL must fit the kind', () => {
  expect(() => create({ type: 'engine' })).toThrow(expect.objectContaining({ code: 'bad_url' }));
  expect(() => create({ url: 'bridge://a/b' })).toThrow(
    expect.objectContaining({ code: 'bad_url' }),
  );
});
