import { waitUntil } from '@model-gateway/testkit';
import type { GpuAgent } from 'gpu-agent/app';
import { createNode, startScene, type Scene } from './scene.ts';

let scene: Scene;
let daemon: GpuAgent | undefined;

beforeAll(async () => {
  scene = await startScene({}, { canTunnel: false });
});
afterEach(() => daemon?.stop());
afterAll(() => scene.close());

async function deploy(host: string): Promise<void> {
  const node = await scene.register(host, [host]);
  daemon = createNode(scene, node.token, { host });
  await daemon.start();
  await waitUntil(async () => (await scene.agent(node.agent_id)).online);
  const { stream_id } = await scene.call<{ stream_id: string }>('agents.deploy', {
    model_id: 'tiny',
    agent_id: node.agent_id,
  });
  const stream = await scene.listen(stream_id);
  await stream.end();
  stream.close();
}

test('where gateways lack the tunnel key, a node that they cannot reach serves nothing', async () => {
  // No server listens there, as if the node were behind NAT.
  await deploy('127.0.0.2');
  const kept = await scene.test.context.database.backendConfigs.list();
  expect(kept.filter(({ url }) => url.includes('/internal/'))).toEqual([]);
  expect((await scene.chat('tiny')).status).toBeGreaterThanOrEqual(400);
});

test('a node that they can reach directly works', async () => {
  await deploy('127.0.0.1');
  await waitUntil(async () => (await scene.chat('tiny')).status === 200);
});
