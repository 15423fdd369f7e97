import {
  openStoreLine,
  testRedisUrl,
  waitUntil,
  type StoreLine,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createGatewayProcesses, stateOf, type GatewayProcesses } from '../gateway-processes.ts';
import { admin, registerBackend } from '../gateway.ts';

let line: StoreLine;
let gateways: GatewayProcesses;
let upstream: RunningChatUpstream;
let left: TestProcess;
let right: TestProcess;

beforeAll(async () => {
  line = await openStoreLine(testRedisUrl());
  upstream = await startChatUpstream({ models: ['m', 'n'] });
  gateways = await createGatewayProcesses({
    REDIS_URL: line.url,
    SERVICE_HEALTH_INTERVAL_SECS: '1',
    SERVICE_BREAKER_OPEN_SECS: '600',
  });
  [left, right] = await Promise.all([gateways.start(), gateways.start()]);
  await registerBackend(left, { type: 'external', name: 'one', url: upstream.url });
  await waitUntil(async () => (await stateOf(right, 'one')) === 'Healthy, closed');
});
afterAll(async () => {
  await gateways.close();
  await line.close();
  await upstream.close();
});

test('without Redis each process routes by itself, and they agree again when it is back', async () => {
  line.cut();
  for (const gateway of [left, right]) expect((await gateways.chat(gateway)).status).toBe(200);

  await admin(left, 'POST', 'aliases', { alias: 'nick', target: 'm' });
  expect((await gateways.chat(left, 'nick')).status).toBe(200);
  expect((await gateways.chat(right, 'nick')).status).toBe(404);

  // Registered backends are in the database, which every process reads in its own rounds.
  await registerBackend(left, { type: 'external', name: 'two', url: upstream.url });
  await waitUntil(async () => (await stateOf(right, 'two')) === 'Healthy, closed');
  await admin(left, 'DELETE', 'backends', { index: 1 });
  await waitUntil(async () => (await stateOf(right, 'two')) === 'none');

  // A rate limit of the upstream holds for one model, in the process that met it.
  upstream.faults.next({ kind: 'status', status: 429, retryAfterSecs: 60 }, 1, 'chat');
  expect((await gateways.chat(left, 'n')).status).toBe(502);
  expect((await gateways.chat(left, 'n')).status).toBe(429);
  expect((await gateways.chat(left, 'm')).status).toBe(200);
  expect((await gateways.chat(right, 'n')).status).toBe(200);

  upstream.faults.next({ kind: 'status', status: 503 }, 3, 'chat');
  for (let failure = 0; failure < 3; failure += 1) {
    expect((await gateways.chat(left)).status).toBe(502);
  }
  expect(await stateOf(left, 'one')).toBe('Healthy, open');
  expect((await gateways.chat(right)).status).toBe(200);

  upstream.faults.always({ kind: 'status', status: 500 }, 'models');
  for (const gateway of [left, right]) {
    await waitUntil(async () => (await stateOf(gateway, 'one')).startsWith('Degraded'));
  }
  upstream.faults.clear();

  line.restore();
  // The circuit of the outage ends with it.
  for (const gateway of [left, right]) {
    await waitUntil(async () => (await stateOf(gateway, 'one')) === 'Healthy, closed');
  }
  await waitUntil(async () => (await gateways.chat(right, 'nick')).status !== 404);
});
