import { keysOf, startGateway, type GatewayUnderTest } from '../gateway.ts';

// What costs nothing is counted by the limits of requests: a large body takes time to be counted.

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_MAX_BODY_BYTES: '5000000',
  });
});
afterAll(() => gateway.test.close());

const LARGE = 'word '.repeat(800_000);

test.each([
  { path: 'messages/count_tokens', said: { messages: [{ role: 'user', content: LARGE }] } },
  { path: 'responses/input_tokens', said: { input: LARGE } },
])('$path is limited like a request', async ({ path, said }) => {
  const { secret } = await keysOf(gateway.test).create({
    userId: gateway.userId,
    name: 'limited',
    settings: { rpm: 1 },
  });
  const ask = () =>
    fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model: 'demo-chat', ...said }),
    });
  const counted = await ask();
  expect([counted.status, await counted.json()]).toEqual([
    200,
    expect.objectContaining({ input_tokens: expect.any(Number) }),
  ]);
  const refused = await ask();
  expect(refused.status).toBe(429);
  expect(await refused.text()).toContain('1 requests per minute');
});
