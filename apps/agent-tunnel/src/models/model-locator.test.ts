import { silentLog, systemClock } from '@model-gateway/kernel';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createModelLocator } from './model-locator.ts';

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

/** Takes the place of this process, which forwards to the node. */
const serveTunnel = (models: readonly string[]) =>
  serve({ models, apiKey: KEY, basePath: `/internal/agents/${AGENT}/m/v1` });

const locatorFrom = (origin: string, canTunnel = true) =>
  createModelLocator({
    agentId: AGENT,
    host: '127.0.0.1',
    canTunnel,
    origin,
    tunnelKey: KEY,
    clock: systemClock,
    log: silentLog,
  });

test('a model that its node lists is reached directly', async () => {
  const direct = await serve({ models: ['m'] });
  const tunnel = await serveTunnel(['m']);
  const location = { url: `http://127.0.0.1:${direct.port}`, isTunneled: false };
  expect(await locatorFrom(tunnel.url).locate('m', direct.port)).toEqual(location);
  expect(await locatorFrom(tunnel.url).isServing('m', location)).toBe(true);
  await direct.close();
  expect(await locatorFrom(tunnel.url).isServing('m', location)).toBe(false);
});

test('a model that is listed with the tag latest is the same', async () => {
  const direct = await serve({ models: ['m:latest'] });
  expect(await locatorFrom('http://127.0.0.1:1').locate('m', direct.port)).toMatchObject({
    isTunneled: false,
  });
});

test('another server at the address of the node is not used', async () => {
  const other = await serve({ models: ['something else'] });
  const tunnel = await serveTunnel(['m']);
  expect(await locatorFrom(tunnel.url).locate('m', other.port)).toEqual({
    url: `${tunnel.url}/internal/agents/${AGENT}/m/v1`,
    isTunneled: true,
  });
});

test('the address of a node without a tunnel is used, whether or not it responds', async () => {
  const unlisted = await serve({ models: ['m'], basePath: '/elsewhere' });
  const locator = locatorFrom('http://127.0.0.1:1', false);
  const direct = { url: `http://127.0.0.1:${unlisted.port}`, isTunneled: false };
  expect(await locator.locate('m', unlisted.port)).toEqual(direct);
  await unlisted.close();
  expect(await locator.locate('m', unlisted.port)).toEqual({ ...direct, isUnresponsive: true });
});

test('a model that responds on neither path has no location', async () => {
  expect(await locatorFrom('http://127.0.0.1:1').locate('m', 1)).toBeUndefined();
});
