import { request } from 'node:http';
import { waitUntil } from '@model-gateway/testkit';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.ts';

const body = (fields: object) =>
  JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...fields });
const chunk = `data: ${JSON.stringify({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'word '.repeat(1_000) }, finish_reason: null }],
})}\n\n`;
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

let gateway: GatewayUnderTest;
let upstream: HeldUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_CLIENT_STALL_SECS: '0.3',
    SERVICE_MAX_CALLS_PER_USER: '1',
  });
  upstream = await startHeldUpstream();
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

test('a client that reads no more is disconnected: its upstream, its place and its bill end', async () => {
  const headers = { authorization: `Bearer ${gateway.key}` };
  const url = `${gateway.url}/v1/chat/completions`;
  const stalled = request(url, { method: 'POST', headers });
  const closed = new Promise((resolve) => stalled.once('close', resolve));
  stalled.on('error', () => undefined);
  stalled.on('response', (response) => response.on('error', () => undefined).pause());
  stalled.end(body({ stream: true }));
  const held = await upstream.next();
  await held.flood(chunk);
  const [row] = await takeUsage(gateway.test.context.bus.journal, 1);
  expect(row).toMatchObject({ model: 'm', status: 499 });
  expect(row?.completion_tokens).toBeGreaterThan(1_000);
  stalled.destroy();
  await closed;
  void upstream.next().then((next) => next.send(200, completion));
  await waitUntil(async () => {
    const response = await fetch(url, { method: 'POST', headers, body: body({}) });
    await response.text();
    return response.status === 200;
  });
});
