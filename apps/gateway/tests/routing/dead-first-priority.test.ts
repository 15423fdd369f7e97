import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { RETRY_REASONS } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

const REQUESTS = 40;
/** The default of SERVICE_BREAKER_FAILURES. */
const BREAKER_FAILURES = 3;

let gateway: GatewayUnderTest;
let first: RunningChatUpstream;
let second: RunningChatUpstream;
/** In front of the first upstream: while it is down, it ends every connection. */
let line: Server;
let isDown = false;
const sockets = new Set<Socket>();

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  first = await startChatUpstream({ models: ['primary'] });
  second = await startChatUpstream({ models: ['spare'] });
  line = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (isDown) return socket.destroy();
    const upstream = connect(Number(new URL(first.url).port), '127.0.0.1');
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
    return upstream.pipe(socket).pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(line, 'listening');
  const url = `http://127.0.0.1:${(line.address() as AddressInfo).port}`;
  await registerBackend(gateway, { type: 'external', name: 'first', url });
  await registerBackend(gateway, { type: 'external', name: 'second', url: second.url });
  const { database, bus } = gateway.test.context;
  await database.routeRules.set({
    model: 'best',
    targets: [
      { model: 'primary', backend: 'first', priority: 0, weight: 1 },
      { model: 'spare', backend: 'second', priority: 1, weight: 1 },
    ],
    attempts: 2,
    retryOn: RETRY_REASONS,
  });
  await bus.channels.publish('routes', 'best');
  await waitUntil(async () => (await ask()) === 'primary@first');
  await takeUsage(bus.journal, 1);
});
afterAll(async () => {
  await gateway.test.close();
  line.close();
  cut();
  await Promise.all([first.close(), second.close()]);
});

async function ask(): Promise<string | null> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key },
    body: JSON.stringify({ model: 'best', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return response.headers.get('x-service-route');
}

function cut(): void {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
}

/** Probes a backend, as the next round of health checks does. */
async function probe(name: string): Promise<unknown> {
  const { status } = (await (
    await admin(gateway, 'POST', `backends/by-name/${name}/test`, {})
  ).json()) as { status: string };
  return status;
}

const circuitOf = async (name: string): Promise<unknown> => {
  const found = await admin(gateway, 'GET', `backends/by-name/${name}`);
  return ((await found.json()) as Readonly<Record<string, unknown>>)['circuit'];
};

test('a dead first priority delays only the requests that open its circuit, and each of them once', async () => {
  isDown = true;
  cut();
  for (let request = 0; request < REQUESTS; request += 1) expect(await ask()).toBe('spare@second');
  const events = await takeUsage(gateway.test.context.bus.journal, REQUESTS);
  const tried = events.map(
    ({ attempts }) =>
      attempts?.filter(({ backend, outcome }) => backend === 'first' && outcome === 'failed')
        .length ?? 0,
  );
  expect(tried.filter((failures) => failures > 0)).toEqual(Array(BREAKER_FAILURES).fill(1));
  // The others say why they went elsewhere.
  expect(events.at(-1)?.attempts).toMatchObject([
    { backend: 'first', outcome: 'skipped', reason: 'circuit_open' },
    { backend: 'second', outcome: 'answered' },
  ]);
});

test('it gets requests again with the first probe that finds it up, although its circuit was open', async () => {
  expect(await probe('first')).toBe('failed');
  expect(await circuitOf('first')).toBe('open');
  isDown = false;
  expect(await ask()).toBe('spare@second');
  await probe('first');
  expect(await circuitOf('first')).toBe('closed');
  expect(await ask()).toBe('primary@first');
});
