import { waitUntil } from '@model-gateway/testkit';
import type { GpuAgent } from 'gpu-agent/app';
import { createNode, startScene, type Registered, type Scene } from './scene.ts';

let scene: Scene;
let node: Registered;
let daemon: GpuAgent;

beforeAll(async () => {
  scene = await startScene();
  node = await scene.register('gpu-1');
  daemon = createNode(scene, node.token, { args: ['--load-ms', '400'] });
});
afterAll(async () => {
  await daemon.stop();
  await scene.close();
});

test('a registered node is offline until it connects', async () => {
  expect(node.token).toMatch(/^agt-[A-Za-z0-9_-]{43}$/);
  expect(await scene.agent(node.agent_id)).toMatchObject({
    id: node.agent_id,
    name: 'gpu-1',
    version: '1.0.0',
    status: 'offline',
    online: false,
    host: null,
    models: [],
    gpus: [],
    gpu_utilization: null,
    connected_at: null,
    last_heartbeat_at: null,
  });
  await daemon.start();
  await waitUntil(async () => (await scene.agent(node.agent_id)).online);
  expect(await scene.call('agents.list')).toMatchObject([
    { id: node.agent_id, status: 'online', host: '127.0.0.1', version: '1.2.3' },
  ]);
});

test('deploy, progress, ready, chat through the gateway, stop, removed', async () => {
  const deployed = await scene.call<{ ok: true; stream_id: string }>('agents.deploy', {
    model_id: 'tiny',
  });
  expect(deployed).toEqual({ ok: true, stream_id: expect.any(String) as unknown });
  const stream = await scene.listen(deployed.stream_id);
  const notices = await stream.end();
  stream.close();
  expect(notices.length).toBeGreaterThan(1);
  for (const progress of notices)
    expect(progress).toMatchObject({
      stream_id: deployed.stream_id,
      agent_id: node.agent_id,
      model_id: 'tiny',
    });
  expect(notices.map(({ status }) => status)).toContain('pulling');
  expect(notices.at(-1)).toMatchObject({ status: 'ready', progress: 100 });

  const { models } = await scene.agent(node.agent_id);
  expect(models).toEqual([
    { model_id: 'tiny', status: 'ready', port: expect.any(Number) as unknown },
  ]);
  const response = await scene.chat('tiny');
  expect(response.status).toBe(200);
  expect(response.headers.get('x-service-backend')).toBe('agent-tiny');
  expect(await response.json()).toMatchObject({
    choices: [{ message: { content: 'you said: Hello!' } }],
  });
  const streamed = await scene.chat('tiny', { stream: true });
  expect(await streamed.text()).toMatch(/data: \[DONE\]\n\n$/);

  expect(await scene.call('agents.stop', { agent_id: node.agent_id, model_id: 'tiny' })).toEqual({
    ok: true,
    stream_id: null,
  });
  await waitUntil(async () => (await scene.chat('tiny')).status === 404);
  expect((await scene.agent(node.agent_id)).models).toEqual([]);
  const port = models[0]?.port ?? 0;
  await expect(fetch(`http://127.0.0.1:${port}/v1/models`)).rejects.toThrow();
});
