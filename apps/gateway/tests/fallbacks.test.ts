import { RETRY_REASONS, type RouteRule } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { admin, groupsOf, keysOf, registerBackend, startGateway } from './gateway.ts';
import type { GatewayUnderTest } from './gateway.ts';
import { takeUsage } from './usage-journal.ts';

let gateway: GatewayUnderTest;
let first: RunningChatUpstream;
let second: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  first = await startChatUpstream({ models: ['primary', 'both'] });
  second = await startChatUpstream({ models: ['spare', 'both'] });
  await registerBackend(gateway, { type: 'external', name: 'first', url: first.url });
  await registerBackend(gateway, { type: 'external', name: 'second', url: second.url });
});
afterEach(() => {
  for (const { faults } of [first, second]) faults.clear();
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([first.close(), second.close()]);
});

function post(path: string, body: object, key = gateway.key): Promise<Response> {
  return fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify(body),
  });
}
const messages = [{ role: 'user', content: 'Hi' }];
const chat = (body: object, key?: string) => post('chat/completions', { messages, ...body }, key);
const usage = () => takeUsage(gateway.test.context.bus.journal, 1);

describe('a route', () => {
  /** Sets a route as the management API does, and waits until the gateway lists it. */
  async function setRoute(rule: Partial<RouteRule>): Promise<void> {
    routes += 1;
    model = `best-${routes}`;
    const { database, bus } = gateway.test.context;
    const targets = [
      { model: 'primary', priority: 0, weight: 1 },
      { model: 'spare', priority: 1, weight: 1 },
    ];
    await database.routeRules.set({ model, targets, attempts: 2, retryOn: RETRY_REASONS, ...rule });
    await bus.channels.publish('routes', model);
    await waitUntil(async () => {
      const listed = await fetch(`${gateway.url}/v1/models/${model}`, {
        headers: { 'x-api-key': gateway.key },
      });
      return listed.status === 200;
    });
  }
  let routes = 0;
  let model = '';
  const served = (response: Response) => [response.status, response.headers.get('x-service-route')];

  test.each([{ stream: false }, { stream: true }])(
    'uses the first priority, and the next when it fails, stream: $stream',
    async ({ stream }) => {
      await setRoute({});
      const asked = await chat({ model, stream });
      expect(served(asked)).toEqual([200, 'primary@first']);
      await asked.text();
      await usage();
      first.faults.next({ kind: 'status', status: 503 });
      const again = await chat({ model, stream });
      expect(served(again)).toEqual([200, 'spare@second']);
      await again.text();
      expect(await usage()).toMatchObject([{ model: 'spare', upstream: 'second', status: 200 }]);
    },
  );

  test('is listed with what its first target can do', async () => {
    await setRoute({});
    const listed = await fetch(`${gateway.url}/v1/models/${model}`, {
      headers: { 'x-api-key': gateway.key },
    });
    expect(await listed.json()).toMatchObject({
      id: model,
      owned_by: 'route',
      capabilities: expect.arrayContaining(['chat']),
    });
  });

  test('gives each target its time until the first byte', async () => {
    await setRoute({ timeoutMs: 500 });
    first.faults.next({ kind: 'hang' });
    const response = await chat({ model, stream: true });
    expect(served(response)).toEqual([200, 'spare@second']);
    expect(await response.text()).toContain('[DONE]');
    await usage();
  });

  test.each([
    { why: 'only the named failures are tried again', rule: { retryOn: ['timeout'] as const } },
    { why: 'no more targets are tried than allowed', rule: { attempts: 1 } },
  ])('$why', async ({ rule }) => {
    await setRoute(rule);
    first.faults.next({ kind: 'status', status: 503 });
    const before = second.requestCount;
    const response = await chat({ model });
    expect(response.status).toBe(502);
    expect(second.requestCount).toBe(before);
  });

  test('works for embeddings and for other APIs', async () => {
    await setRoute({});
    const embedded = await post('embeddings', { model, input: 'x' });
    expect(served(embedded)).toEqual([200, 'primary@first']);
    await usage();
    const message = await post('messages', { model, max_tokens: 9, messages });
    expect(served(message)).toEqual([200, 'primary@first']);
    await usage();
  });
});

describe('models', () => {
  test.each([{ stream: false }, { stream: true }])(
    'are tried in order when the model fails, stream: $stream',
    async ({ stream }) => {
      first.faults.always({ kind: 'status', status: 400 });
      const response = await chat({ model: 'primary', models: ['missing', 'spare'], stream });
      expect([response.status, response.headers.get('x-service-backend')]).toEqual([200, 'second']);
      await response.text();
      expect(second.requests.at(-1)?.body).not.toHaveProperty('models');
      expect(await usage()).toMatchObject([{ model: 'spare', upstream: 'second', status: 200 }]);
    },
  );

  test('are not tried while the model answers', async () => {
    const response = await chat({ model: 'primary', models: ['spare'] });
    expect(response.headers.get('x-service-backend')).toBe('first');
    await usage();
  });

  test('work for embeddings too', async () => {
    const response = await post('embeddings', { model: 'missing', models: ['spare'], input: 'x' });
    expect([response.status, response.headers.get('x-service-backend')]).toEqual([200, 'second']);
    await usage();
  });

  test('that all fail: the last failure is the error', async () => {
    second.faults.always({ kind: 'status', status: 422 });
    const response = await chat({ model: 'missing', models: ['spare'] });
    expect(response.status).toBe(502);
  });

  test('may be aliases, and must all be allowed', async () => {
    await admin(gateway, 'POST', 'aliases', { alias: 'nick', target: 'spare' });
    expect((await chat({ model: 'missing', models: ['nick'] })).status).toBe(200);
    await usage();
    const { database } = gateway.test.context;
    const owner = await database.users.findById(gateway.userId);
    if (owner === undefined) throw new Error('user not found');
    const { groups, models } = groupsOf(gateway.test);
    const { id: groupId } = await groups.create(owner, { name: 'Team' });
    await models.deny(groupId, ['spare']);
    const { userId } = gateway;
    const { secret } = await keysOf(gateway.test).create({ userId, name: 'team', groupId });
    for (const name of ['spare', 'nick']) {
      const refused = await chat({ model: 'primary', models: [name] }, secret);
      expect(refused.status).toBe(403);
    }
  });

  test.each([{ models: 'spare' }, { models: Array(11).fill('spare') }, { models: [''] }])(
    'must be a short list of ids: $models',
    async (body) => {
      expect((await chat({ model: 'primary', ...body })).status).toBe(400);
    },
  );
});

describe('provider', () => {
  const served = async (provider: unknown) => {
    const response = await chat({ model: 'both', provider });
    if (response.status !== 200) return response.status;
    await response.text();
    await usage();
    return response.headers.get('x-service-backend');
  };

  test.each([
    { provider: { order: ['second', 'first'] }, expected: 'second' },
    { provider: { order: ['first'] }, expected: 'first' },
    { provider: { only: ['SECOND'] }, expected: 'second' },
    { provider: { ignore: ['first'] }, expected: 'second' },
    { provider: { only: ['unknown'] }, expected: 404 },
    { provider: { sort: 'price', only: ['first'] }, expected: 'first' },
    { provider: { only: 'first' }, expected: 400 },
    { provider: ['first'], expected: 400 },
  ])('$provider', async ({ provider, expected }) => {
    for (let time = 0; time < 2; time += 1) expect(await served(provider)).toBe(expected);
  });

  test('without fallbacks: no other backend is tried', async () => {
    first.faults.always({ kind: 'status', status: 500 });
    expect(await served({ order: ['first'] })).toBe('second');
    expect(await served({ order: ['first'], allow_fallbacks: false })).toBe(502);
    second.faults.always({ kind: 'status', status: 500 });
    const { requestCount } = first;
    const before = requestCount + second.requestCount;
    expect(await served({ allow_fallbacks: false })).toBe(502);
    expect(first.requestCount + second.requestCount).toBe(before + 1);
  });
});
