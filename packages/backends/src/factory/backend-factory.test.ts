import { chatTurn } from '@model-gateway/dialects';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { silentLog, systemClock } from '@model-gateway/kernel';
import type { Backend, BackendConfig } from '@model-gateway/router';
import {
  startBridgeAgent,
  startEngine,
  startOllamaServer,
  type RunningBridgeAgent,
  type RunningOllamaServer,
} from '@model-gateway/testkit/upstreams';
import { waitUntil } from '@model-gateway/testkit';
import { createBackendFactory, type BackendFactory } from './backend-factory.ts';
import { completionIn } from '../../tests/read-chunks.ts';

const timeouts = { connectMs: 500, idleMs: 1_000, totalMs: 2_000 };
const signal = new AbortController().signal;
const config: BackendConfig = {
  name: 'tunnel',
  type: 'local-server',
  url: 'bridge://gpu-1/ollama',
  apiKey: null,
  models: [],
  capabilities: null,
};

let upstream: RunningOllamaServer;
let agent: RunningBridgeAgent;
let factory: BackendFactory;
let moves: string[];
let opened: Backend[];
beforeEach(async () => {
  upstream = await startOllamaServer();
  agent = await startBridgeAgent();
  agent.setTarget('gpu-1', 'ollama', { host: '127.0.0.1', port: upstream.port });
  moves = [];
  opened = [];
  factory = createBackendFactory({
    timeouts,
    clock: systemClock,
    log: silentLog,
    bridgeUrl: agent.url,
    keepaliveMs: 30,
    onMoved: (name) => void moves.push(name),
  });
});
afterEach(async () => {
  for (const backend of opened) await backend.close();
  await agent.close();
  await upstream.close();
});

function keep(backend: Backend): Backend {
  opened.push(backend);
  return backend;
}
const open = async (more: Partial<BackendConfig> = {}): Promise<Backend> =>
  keep(await factory.open({ ...config, ...more }));
const healthy = { state: 'Healthy', models: ['demo-local:latest'] };

describe('a backend behind the bridge', () => {
  it('is reached through the local port of its tunnel', async () => {
    const backend = await open();
    expect(backend).toMatchObject({ name: 'tunnel', kind: 'local-server' });
    expect(await backend.probe(signal)).toEqual(healthy);
    expect([...backend.capabilities()]).toEqual(['chat', 'embeddings']);
    const model = 'demo-local:latest';
    const answer = await backend.chat?.(
      chatTurn({ model, messages: [{ role: 'user', content: 'x' }] }),
      signal,
    );
    expect(completionIn(answer).choices).toHaveLength(1);
    expect('chat' in backend && !('invoke' in backend)).toBe(true);
    expect(agent.frames.at(-1)?.params).toEqual({ node: 'gpu-1', service: 'ollama' });
  });

  it('may be an engine, which is reached over a socket', async () => {
    const engine = await startEngine();
    agent.setTarget('gpu-1', 'engine', { host: '127.0.0.1', port: engine.port });
    const backend = await open({ type: 'engine', url: 'bridge://gpu-1/engine' });
    expect(await backend.probe(signal)).toEqual({ state: 'Healthy', models: ['demo-engine'] });
    await backend.close();
    await engine.close();
  });

  it('follows its tunnel to another port', async () => {
    const backend = await open();
    const port = agent.localPort('gpu-1', 'ollama');
    await agent.dropTunnel('gpu-1', 'ollama');
    await waitUntil(() => moves.length === 1);
    expect(agent.localPort('gpu-1', 'ollama')).not.toBe(port);
    expect(await backend.probe(signal)).toEqual(healthy);
  });

  it('fails while its tunnel is down, and comes back with the agent', async () => {
    const backend = await open();
    await agent.refuse();
    await agent.dropTunnel('gpu-1', 'ollama');
    await expect(backend.probe(signal)).rejects.toThrow('ECONNREFUSED');
    await agent.resume();
    await waitUntil(() => moves.length === 1);
    expect(await backend.probe(signal)).toEqual(healthy);
  });

  it('stays where it is while its tunnel is up', async () => {
    let looks = 0;
    const service = createServer((socket) => {
      looks += 1;
      socket.on('error', () => undefined);
    });
    await once(service.listen(0, '127.0.0.1'), 'listening');
    const { port } = service.address() as AddressInfo;
    agent.setTarget('gpu-1', 'any', { host: '127.0.0.1', port });
    await open({ url: 'bridge://gpu-1/any' });
    await waitUntil(() => looks >= 3);
    expect(agent.callsOf('Bridge.Connect')).toBe(1);
    expect(moves).toEqual([]);
    service.close();
  });

  it('is not looked after any more once it is closed', async () => {
    const backend = await open();
    await backend.close();
    await agent.dropTunnel('gpu-1', 'ollama');
    await open({ name: 'other' });
    await agent.dropTunnel('gpu-1', 'ollama');
    await waitUntil(() => moves.length > 0);
    expect(moves).toEqual(['other']);
  });
});

describe('a bridge that cannot be reached', () => {
  it.each([
    { why: 'no such service', url: 'bridge://gpu-1/other', detail: 'no such service: gpu-1/other' },
    { why: 'no such node', url: 'bridge://gpu-2/ollama', detail: 'no such service: gpu-2/ollama' },
  ])('refuses a registration: $why', async ({ url, detail }) => {
    await expect(open({ url })).rejects.toMatchObject({
      code: 'bridge_unreachable',
      message: expect.stringContaining(detail),
    });
  });

  it.each([{ kind: 'silent' }, { kind: 'garbage' }, { kind: 'close' }] as const)(
    'refuses a registration when the agent answers with %j',
    async (fault) => {
      agent.faults.next(fault);
      await expect(open()).rejects.toMatchObject({ code: 'bridge_unreachable' });
    },
  );

  it('refuses a registration when the agent is unavailable', async () => {
    await agent.refuse();
    await expect(open()).rejects.toMatchObject({ code: 'bridge_unreachable' });
  });

  it('leaves a restored backend Unhealthy until it is back', async () => {
    await agent.refuse();
    const backend = keep(factory.restore(config));
    expect(backend).toMatchObject({ name: 'tunnel', kind: 'local-server' });
    await expect(backend.probe(signal)).rejects.toThrow('the bridge was not reached yet');
    await agent.resume();
    await waitUntil(() => moves.length === 1);
    expect(await backend.probe(signal)).toEqual(healthy);
  });

  it.each(['bridge://gpu-1', 'bridge://gpu-1/', 'bridge://gpu-1/a/b', 'bridge:///ollama'])(
    '%s is no bridge URL',
    async (url) => {
      await expect(open({ url })).rejects.toMatchObject({ code: 'bad_url' });
    },
  );
});

it('a backend that needs no bridge is built as it is registered', async () => {
  const backend = await open({ url: upstream.url });
  expect(await backend.probe(signal)).toEqual(healthy);
  expect(await keep(factory.restore({ ...config, url: upstream.url })).probe(signal)).toEqual(
    healthy,
  );
  expect(agent.connectionCount).toBe(0);
});
