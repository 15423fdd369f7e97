import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates, waitUntil, type TestProcess } from '@model-gateway/testkit';
import { startFarProxy, type FarProxy } from '@model-gateway/testkit/upstreams';
import { registerBackend } from '../gateway.ts';
import { createGatewayProcesses, type GatewayProcesses } from '../gateway-processes.ts';
import { KINDS } from '../matrix/kinds.ts';
import type { WireServer } from '../matrix/upstreams/wire-server.ts';

// An engine has one connection for all calls, and the tunnel is the connection of a node.
const { engine: _engine, agent: _agent, ...HTTP_KINDS } = KINDS;
const SAID = {
  text: 'Hello',
  finish: 'stop',
  usage: { prompt: 3, completion: 1 },
} as const;

let folder = '';
let processes: GatewayProcesses;
let gateway: TestProcess;
let proxyOf: (target: string) => Promise<FarProxy>;
const proxies: FarProxy[] = [];
const upstreams: WireServer[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'model-gateway-far-'));
  const certificates = await makeCertificates(folder);
  proxyOf = (target) => startFarProxy({ target, certificates });
  processes = await createGatewayProcesses({ NODE_EXTRA_CA_CERTS: certificates.caFile });
  gateway = await processes.start();
});
afterAll(async () => {
  await processes.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
  await Promise.all(upstreams.map((upstream) => upstream.close()));
  await rm(folder, { recursive: true, force: true });
});

type HttpKind = keyof typeof HTTP_KINDS;

/** An upstream of that kind behind a far proxy. */
async function register(kind: HttpKind) {
  const api = HTTP_KINDS[kind];
  const upstream = await api.start();
  const proxy = await proxyOf(upstream.url);
  upstreams.push(upstream);
  proxies.push(proxy);
  upstream.answer(SAID, { stream: true });
  const registered = await registerBackend(gateway, {
    ...api.registration,
    name: kind,
    url: proxy.url,
  });
  expect(registered.status).toBe(200);
  return { upstream, proxy };
}

async function stream(provider: HttpKind): Promise<void> {
  const response = await processes.chat(gateway, 'm', { stream: true, provider });
  const text = await response.text();
  if (!text.endsWith('data: [DONE]\n\n')) throw new Error(`${provider} answered ${text}`);
}

async function streamTimes(kind: HttpKind, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await stream(kind);
}

describe.each(Object.keys(HTTP_KINDS) as HttpKind[])(
  'streams of a far upstream of the kind %s',
  (kind) => {
    test('share connections', async () => {
      const { upstream, proxy } = await register(kind);
      await streamTimes(kind, 10);
      // The end of a body may be a packet of its own.
      expect(proxy.workConnections()).toBeLessThanOrEqual(2);
      for (let round = 0; round < 3; round += 1)
        await Promise.all(Array.from({ length: 10 }, () => stream(kind)));
      expect(proxy.workConnections()).toBeLessThanOrEqual(12);

      const before = proxy.workConnections();
      upstream.endAfter(20);
      await streamTimes(kind, 10);
      expect(proxy.workConnections() - before).toBeLessThanOrEqual(2);
    });
  },
);

test.each(Object.keys(HTTP_KINDS) as HttpKind[])(
  'a body of the kind %s that never ends delays nobody, and its connection is closed',
  async (kind) => {
    const upstream = upstreams[Object.keys(HTTP_KINDS).indexOf(kind)];
    upstream?.endAfter(Infinity);
    const before = upstream?.connections() ?? 0;
    await streamTimes(kind, 3);
    await waitUntil(async () => (upstream?.connections() ?? 0) <= before, {
      what: 'the connections of endless answers to be closed',
    });
  },
);
