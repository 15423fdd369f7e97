import { admin } from '../gateway.ts';
import { startTwoBackends, type TwoBackends } from './two-backends.ts';

let gateway: TwoBackends['gateway'];
let first: TwoBackends['first'];
let second: TwoBackends['second'];
let post: TwoBackends['post'];
let chat: TwoBackends['chat'];
let usage: TwoBackends['usage'];
let backends: TwoBackends;

beforeAll(async () => {
  backends = await startTwoBackends();
  ({ gateway, first, second, post, chat, usage } = backends);
});
afterEach(() => backends.clearFaults());
afterAll(() => backends.close());

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

  test('are tried once each, also where two of them are the same', async () => {
    await admin(gateway, 'POST', 'aliases', { alias: 'again', target: 'primary' });
    first.faults.always({ kind: 'status', status: 400 });
    const before = first.requestCount;
    const models = ['primary', 'again', 'primary', 'spare'];
    const response = await chat({ model: 'primary', models });
    expect([response.status, response.headers.get('x-service-backend')]).toEqual([200, 'second']);
    expect(first.requestCount - before).toBe(1);
    await usage();
  });

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

  test('may be aliases', async () => {
    await admin(gateway, 'POST', 'aliases', { alias: 'nick', target: 'spare' });
    expect((await chat({ model: 'missing', models: ['nick'] })).status).toBe(200);
    await usage();
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
