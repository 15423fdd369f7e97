import { silentLog, systemClock } from '@model-gateway/kernel';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createReach } from './reach.ts';

const AGENT = 'agent-1';
const KEY = 'the key of the tunnel';
const open: RunningChatUpstream[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function serve(
  ...options: Parameters<typeof startChatUpstream>
): Promise<RunningChatUpstream> {
  const server = await startChatUpstream(...options);
  open.push(server);
  return server;
}

/** Stands in for this process, behind which the node is. */
const serveTunnel = (models: readonly string[]) =>
  serve({ models, apiKey: KEY, basePath: `/internal/agents/${AGENT}/m/v1` });

const reachFrom = (origin: string, canTunnel = true) =>
  createReach({
    agentId: AGENT,
    host: '127.0.0.1',
    canTunnel,
    origin,
    tunnelKey: KEY,
    clock: systemClock,
    log: silentLog,
  });

test('a model that is listed at its node is reached there', async () => {
  const direct = await serve({ models: ['m'] });
  const tunnel = await serveTunnel(['m']);
  const located = { url: `http://127.0.0.1:${direct.port}`, isTunneled: false };
  expect(await reachFrom(tunnel.url).locate('m', direct.port)).toEqual(located);
  expect(await reachFrom(tunnel.url).isThere('m', located)).toBe(true);
  await direct.close();
  expect(await reachFrom(tunnel.url).isThere('m', located)).toBe(false);
});

test('a model that is listed under its latest tag is the same', async () => {
  const direct = await serve({ models: ['m:latest'] });
  expect(await reachFrom('http://127.0.0.1:1').locate('m', direct.port)).toMatchObject({
    isTunneled: false,
  });
});

test('somebody else who answers at the address of the node is not taken for it', async () => {
  const other = await serve({ models: ['something else'] });
  const tunnel = await serveTunnel(['m']);
  expect(await reachFrom(tunnel.url).locate('m', other.port)).toEqual({
    url: `${tunnel.url}/internal/agents/${AGENT}/m/v1`,
    isTunneled: true,
  });
});

test('a node that cannot tunnel is believed, whether or not anybody answers', async () => {
  const unlisted = await serve({ models: ['m'], basePath: '/elsewhere' });
  const reach = reachFrom('http://127.0.0.1:1', false);
  const direct = { url: `http://127.0.0.1:${unlisted.port}`, isTunneled: false };
  expect(await reach.locate('m', unlisted.port)).toEqual(direct);
  await unlisted.close();
  expect(await reach.locate('m', unlisted.port)).toEqual({ ...direct, isSilent: true });
});

test('a model that answers on neither way is nowhere', async () => {
  expect(await reachFrom('http://127.0.0.1:1').locate('m', 1)).toBeUndefined();
});
