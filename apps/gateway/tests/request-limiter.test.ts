import { createAccessTokens } from '@model-gateway/accounts';
import { keysOf, startGateway, type GatewayUnderTest } from './gateway.ts';

let gateway: GatewayUnderTest;
afterEach(() => gateway.test.close());

const models = (bearer = gateway.key): Promise<Response> =>
  fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${bearer}` } });

const chat = (): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: '{}',
  });

async function expectLimited(response: Response): Promise<void> {
  expect(response.status).toBe(429);
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(response.headers.get('retry-after')).toBeNull();
  expect(await response.text()).toBe('Rate limit exceeded. Try again later.');
}

const limitsOf = ({ headers }: Response) =>
  ['limit', 'remaining', 'reset'].map((fact) => headers.get(`x-ratelimit-${fact}-requests`));

test('60 requests of a key pass within a minute, on all paths together, and others are not affected', async () => {
  gateway = await startGateway();
  const other = await keysOf(gateway.test).create({ userId: gateway.userId, name: 'other' });
  for (let count = 0; count < 30; count += 1) {
    const listed = await models();
    expect(listed.status).toBe(200);
    expect(limitsOf(listed)).toEqual([
      '60',
      String(59 - 2 * count),
      expect.stringMatching(/^\d+s$/),
    ]);
    // A request that is refused later still counts in the limit.
    const refused = await chat();
    expect(refused.status).toBe(400);
    expect(limitsOf(refused)[1]).toBe(String(58 - 2 * count));
  }
  await expectLimited(await models());
  await expectLimited(await chat());
  const headers = { authorization: `Bearer ${gateway.key}`, accept: 'application/json' };
  const inJson = await fetch(`${gateway.url}/v1/models`, { headers });
  expect(inJson.status).toBe(429);
  // As long as the oldest request still counts.
  expect(Number(inJson.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(inJson.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  expect(limitsOf(inJson)).toEqual(['60', '0', expect.stringMatching(/^\d+s$/)]);
  expect(await inJson.json()).toMatchObject({
    error: {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: expect.stringMatching(
        / 60 requests per minute .*SERVICE_API_RATE_LIMIT_RPM/,
      ) as string,
    },
  });
  expect((await models(other.secret)).status).toBe(200);
  expect((await models(`service-${crypto.randomUUID()}`)).status).toBe(401);
});

test('requests that cost nothing count in the limit, and say what is left', async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '4' });
  const send = (method: string, path: string, body?: string) =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${gateway.key}` },
      ...(body === undefined ? {} : { body }),
    });
  const counted = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  const answers = [
    await send('POST', '/v1/messages/count_tokens', counted),
    await send('GET', '/v1/responses/resp_none'),
    await send('DELETE', '/v1/responses/resp_none'),
    await send('GET', `/v1/video/generations/${crypto.randomUUID()}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 404, 404]);
  expect(answers.map((answer) => limitsOf(answer).slice(0, 2))).toEqual([
    ['4', '3'],
    ['4', '2'],
    ['4', '1'],
    ['4', '0'],
  ]);
});

test('a limit of 0 blocks everything', async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '0' });
  await expectLimited(await models());
  await expectLimited(await chat());
});

test('the limit of a signed-in user applies to all tokens together', async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '2' });
  const { jwtSecret, clock } = gateway.test.context;
  const tokens = createAccessTokens({ secret: jwtSecret, expiresInSecs: 60, clock });
  expect((await models(tokens.sign(gateway.userId))).status).toBe(200);
  expect((await models(tokens.sign(gateway.userId))).status).toBe(200);
  await expectLimited(await models(tokens.sign(gateway.userId)));
  expect((await models()).status).toBe(200);
});
