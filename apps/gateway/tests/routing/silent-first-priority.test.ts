import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setImmediate as eventsHandled, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@model-gateway/kernel';
import { RETRY_REASONS } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { admin, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

const REQUESTS = 20;
/** The default of SERVICE_BREAKER_FAILURES. */
const BREAKER_FAILURES = 3;
const QUEUE_MAX = 50;
const UNANSWERED_MS = 500;
/** A busy machine may take a second to answer a connection that is answered. */
const CONNECT_TIMEOUT_MS = 3_000;

let gateway: GatewayUnderTest;
let first: RunningChatUpstream;
let second: RunningChatUpstream;
/** In front of the first upstream. */
let line: Server;
let port: number;
let silent: ChildProcess | undefined;
const sockets = new Set<Socket>();

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_UPSTREAM_CONNECT_TIMEOUT_MS: String(CONNECT_TIMEOUT_MS),
  });
  first = await startChatUpstream({ models: ['primary'] });
  second = await startChatUpstream({ models: ['spare'] });
  port = await freePort();
  await openLine();
  await registerBackend(gateway, {
    type: 'external',
    name: 'first',
    url: `http://127.0.0.1:${port}`,
  });
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
  silent?.kill('SIGKILL');
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

async function openLine(): Promise<void> {
  line = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    const upstream = connect(Number(new URL(first.url).port), '127.0.0.1');
    upstream.on('error', () => socket.destroy());
    upstream.on('close', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
    upstream.pipe(socket).pipe(upstream);
  }).listen(port, '127.0.0.1');
  await once(line, 'listening');
}

function cut(): void {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
}

/** Replaces the upstream by a port that answers no connection: another process listens there, and its queue is full. */
async function fallSilent(): Promise<void> {
  const closed = once(line, 'close');
  line.close();
  cut();
  await closed;
  const program = fileURLToPath(new URL('silent-port.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  silent = child;
  await once(child.stdout, 'data');
  for (let opened = 0; opened < QUEUE_MAX; opened += 1) if (!(await isAnswered())) return;
  throw new Error('the queue of the port is never full');
}

/** Whether a new connection, which stays, is answered. */
async function isAnswered(): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  sockets.add(socket);
  socket.on('error', () => undefined);
  return Promise.race([
    once(socket, 'connect').then(() => true),
    // A process that was stopped handles its timers before the answers that came meanwhile.
    sleep(UNANSWERED_MS)
      .then(() => eventsHandled())
      .then(() => false),
  ]);
}

async function returnToService(): Promise<void> {
  const ended = silent && once(silent, 'exit');
  silent?.kill('SIGKILL');
  await ended;
  cut();
  await openLine();
}

async function probe(name: string): Promise<unknown> {
  const tested = await admin(gateway, 'POST', `backends/by-name/${name}/test`, {});
  return ((await tested.json()) as { readonly status: string }).status;
}

test('a first priority that answers no connection delays only the requests that open its circuit, each by one attempt', async () => {
  await fallSilent();
  for (let request = 0; request < REQUESTS; request += 1) expect(await ask()).toBe('spare@second');
  const events = await takeUsage(gateway.test.context.bus.journal, REQUESTS);
  const failed = events.map(({ attempts }) =>
    attempts?.filter(({ backend, outcome }) => backend === 'first' && outcome === 'failed'),
  );
  expect(failed.map((attempts) => attempts?.length)).toEqual([
    ...Array<number>(BREAKER_FAILURES).fill(1),
    ...Array<number>(REQUESTS - BREAKER_FAILURES).fill(0),
  ]);
  expect(events.at(-1)?.attempts).toMatchObject([
    { backend: 'first', outcome: 'skipped', reason: 'circuit_open' },
    { backend: 'second', outcome: 'answered' },
  ]);
});

test('it gets requests again with the first probe that finds it up', async () => {
  expect(await probe('first')).toBe('failed');
  await returnToService();
  expect(await ask()).toBe('spare@second');
  await probe('first');
  expect(await ask()).toBe('primary@first');
});
