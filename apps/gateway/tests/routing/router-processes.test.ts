import { createGate, fullSize, waitUntil, type TestProcess } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import {
  backendsOf,
  createGatewayProcesses,
  stateOf,
  type GatewayProcesses,
} from '../gateway-processes.ts';
import { admin, registerBackend } from '../gateway.ts';

const HEALTH_INTERVAL_MS = 1_000;
const KEPT_REQUESTS = 5_000;
const ROUND_BEGINS = 'probing every backend';

let gateways: GatewayProcesses;
let upstream: RunningChatUpstream;
let left: TestProcess;
let right: TestProcess;

beforeAll(async () => {
  upstream = await startChatUpstream({ models: ['m'], keepRequests: KEPT_REQUESTS });
  gateways = await createGatewayProcesses({
    SERVICE_BREAKER_OPEN_SECS: '3',
    SERVICE_HEALTH_INTERVAL_SECS: String(HEALTH_INTERVAL_MS / 1_000),
    SERVICE_LOG_LEVEL: 'debug',
  });
  left = await gateways.start();
});
afterAll(async () => {
  await gateways.close();
  await upstream.close();
});

/** Waits until a condition holds on another process. */
const seen = (what: string, condition: () => Promise<boolean>): Promise<void> =>
  waitUntil(condition, { what });

const register = (on: TestProcess, name: string, models?: readonly string[]): Promise<Response> =>
  registerBackend(on, { type: 'external', name, url: upstream.url, models });
const chat = (...parameters: Parameters<GatewayProcesses['chat']>): Promise<Response> =>
  gateways.chat(...parameters);
const namesOn = async (gateway: TestProcess): Promise<string> =>
  (await backendsOf(gateway)).map(({ name }) => name).join();
const requestsTo = (path: string): number =>
  upstream.requests.filter((request) => request.path === path).length;
const roundsOf = (gateway: TestProcess): number => gateway.output().split(ROUND_BEGINS).length - 1;

test('a process that starts later knows the backends and aliases', async () => {
  await register(left, 'zero');
  await admin(left, 'POST', 'aliases', { alias: 'earlier', target: 'm' });
  right = await gateways.start();
  expect((await chat(right, 'earlier')).status).toBe(200);
  await admin(left, 'DELETE', 'backends', { index: 0 });
  await seen('the removal', async () => (await namesOn(right)) === '');
});

test('registering, replacing or removing a backend on one process applies to the other', async () => {
  await register(left, 'one');
  await seen('the registration', async () => (await stateOf(right, 'one')) === 'Healthy, closed');
  expect((await chat(right)).status).toBe(200);
  await register(right, 'two');
  await seen('the second one', async () => (await namesOn(left)) === 'one,two');
  const replaced = await register(right, 'one', ['m', 'static']);
  expect(await replaced.json()).toMatchObject({ index: 0 });
  await seen('the replacement', async () => {
    return (await backendsOf(left))[0]?.models.includes('static') === true;
  });
  await admin(right, 'DELETE', 'backends', { index: 0 });
  await seen('the removal', async () => (await namesOn(left)) === 'two');
});

test('setting or removing an alias on one process applies to the other', async () => {
  await admin(left, 'POST', 'aliases', { alias: 'nick', target: 'm' });
  await seen('the alias', async () => (await chat(right, 'nick')).status === 200);
  await admin(right, 'DELETE', 'aliases', { alias: 'nick' });
  await seen('its removal', async () => (await chat(left, 'nick')).status === 404);
});

test('the processes agree on an open circuit, and only one request tests a half-open one', async () => {
  upstream.faults.always({ kind: 'status', status: 503 }, 'chat');
  for (const gateway of [left, right, left]) expect((await chat(gateway)).status).toBe(502);
  await seen('the open circuit', async () => (await stateOf(right, 'two')) === 'Healthy, open');
  expect(await stateOf(left, 'two')).toBe('Healthy, open');
  expect((await chat(right)).status).toBe(500);
  const metrics = await (await fetch(`${right.url}/metrics`)).text();
  expect(metrics).toContain('service_backend_healthy{backend="two"} 1');
  expect(metrics).toContain('service_backend_circuit{backend="two"} 2');

  upstream.faults.clear();
  const gate = createGate();
  upstream.faults.always({ kind: 'held', until: gate.opened }, 'chat');
  await waitUntil(async () => (await stateOf(left, 'two')) === 'Healthy, half-open');
  await waitUntil(async () => (await stateOf(right, 'two')) === 'Healthy, half-open');
  const before = requestsTo('/v1/chat/completions');
  let finished = 0;
  const sending = Array.from({ length: 20 }, async (_, index) => {
    const response = await chat(index % 2 === 0 ? left : right);
    finished += 1;
    return response;
  });
  await waitUntil(() => finished === 19, { what: 'the refusal of all but one' });
  gate.open();
  const responses = await Promise.all(sending);
  const statuses = responses.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 500)]);
  expect(requestsTo('/v1/chat/completions') - before).toBe(1);
  upstream.faults.clear();
  for (const gateway of [left, right]) {
    await seen('the closed circuit', async () => {
      return (await stateOf(gateway, 'two')) === 'Healthy, closed';
    });
  }
  expect((await chat(left)).status).toBe(200);
});

test('the processes agree on health, which one of them probes in each round', async () => {
  upstream.faults.always({ kind: 'status', status: 500 }, 'models');
  await waitUntil(async () => (await stateOf(left, 'two')).startsWith('Degraded'));
  await seen('it', async () => (await stateOf(right, 'two')).startsWith('Degraded'));
  expect((await chat(right)).status).toBe(500);
  upstream.faults.clear();
  await waitUntil(async () => (await stateOf(left, 'two')).startsWith('Healthy'));
  await seen('it', async () => (await stateOf(right, 'two')).startsWith('Healthy'));

  const [before, startedAt] = [requestsTo('/v1/models'), performance.now()];
  await waitUntil(() => requestsTo('/v1/models') >= before + fullSize(8, { small: 4 }));
  // There are twice as many if both processes probe.
  const intervals = (performance.now() - startedAt) / HEALTH_INTERVAL_MS;
  expect(requestsTo('/v1/models') - before).toBeLessThanOrEqual(intervals + 3);
});

test('after a kill of the elected prober the other process probes', async () => {
  const [ofLeft, ofRight] = [roundsOf(left), roundsOf(right)];
  await waitUntil(() => roundsOf(left) > ofLeft || roundsOf(right) > ofRight);
  const [elected, other] = roundsOf(left) > ofLeft ? [left, right] : [right, left];
  const before = roundsOf(other);
  await elected.kill();
  await waitUntil(() => roundsOf(other) > before, { what: 'the next round' });
});
