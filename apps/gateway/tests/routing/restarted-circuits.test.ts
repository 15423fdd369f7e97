import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createGatewayProcesses, stateOf, type GatewayProcesses } from '../gateway-processes.ts';
import { registerBackend } from '../gateway.ts';

let gateways: GatewayProcesses;
let upstream: RunningChatUpstream;

beforeAll(async () => {
  upstream = await startChatUpstream({ models: ['m'] });
  gateways = await createGatewayProcesses({ SERVICE_BREAKER_OPEN_SECS: '600' });
});
afterAll(async () => {
  await gateways.close();
  await upstream.close();
});

test('an open circuit ends with the only process, also when it is killed', async () => {
  const first = await gateways.start();
  await registerBackend(first, { type: 'external', name: 'one', url: upstream.url });
  upstream.faults.always({ kind: 'status', status: 500 }, 'chat');
  for (let time = 0; time < 3; time += 1) expect((await gateways.chat(first)).status).toBe(502);
  expect(await stateOf(first, 'one')).toBe('Healthy, open');
  await first.kill();
  upstream.faults.clear();

  const second = await gateways.start();
  await waitUntil(async () => (await stateOf(second, 'one')).startsWith('Healthy'));
  expect(await stateOf(second, 'one')).toBe('Healthy, closed');
  expect((await gateways.chat(second)).status).toBe(200);
  upstream.faults.always({ kind: 'status', status: 500 }, 'chat');
  for (let time = 0; time < 2; time += 1) expect((await gateways.chat(second)).status).toBe(502);
  // What the list shows is what the next request meets.
  expect(await stateOf(second, 'one')).toBe('Healthy, closed');
  upstream.faults.clear();
  expect((await gateways.chat(second)).status).toBe(200);
});
