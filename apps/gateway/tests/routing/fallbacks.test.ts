import { newId } from '@model-gateway/kernel';
import { RETRY_REASONS, type RouteRule } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, startRecordedServer } from '@model-gateway/testkit/upstreams';
import { admin, keysOf, registerBackend } from '../gateway.ts';
import { loggedRequest, REFUSED_REQUESTS } from '../logged-requests.ts';
import { messages, startTwoBackends, type TwoBackends } from './two-backends.ts';

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
    await setRoute({ timeoutMs: 3_000 });
    first.faults.next({ kind: 'hang' });
    const response = await chat({ model, stream: true });
    expect(served(response)).toEqual([200, 'spare@second']);
    expect(await response.text()).toContain('[DONE]');
    await usage();
  });

  test('a comment of a stream is no first byte', async () => {
    const waiting = await startRecordedServer();
    waiting.answer('/v1/models', { body: JSON.stringify({ data: [{ id: 'waits' }] }) });
    waiting.answer('/chat/completions', { type: 'text/event-stream', body: ': processing\n\n' });
    await registerBackend(gateway, { type: 'external', name: 'waiting', url: waiting.url });
    const targets = [
      { model: 'waits', priority: 0, weight: 1 },
      { model: 'spare', priority: 1, weight: 1 },
    ];
    await setRoute({ targets });
    for (const [path, body] of [
      ['chat/completions', {}],
      ['messages', { max_tokens: 9 }],
    ] as const) {
      const response = await post(path, { model, messages, stream: true, ...body });
      expect(served(response)).toEqual([200, 'spare@second']);
      expect(await response.text()).not.toContain('processing');
      await usage();
    }
    expect(waiting.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
    await admin(gateway, 'DELETE', 'backends/by-name/waiting');
    await waiting.close();
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

  test.each([{ strategy: undefined }, { strategy: 'fastest' as const }])(
    'follows the order of a request within a priority: $strategy',
    async ({ strategy }) => {
      const targets = [
        { model: 'both', backend: 'first', priority: 0, weight: 1_000 },
        { model: 'both', backend: 'second', priority: 0, weight: 1 },
        { model: 'spare', priority: 1, weight: 1 },
      ];
      await setRoute({ targets, ...(strategy === undefined ? {} : { strategy }) });
      for (const name of ['second', 'first', 'second', 'first']) {
        const response = await chat({ model, provider: { order: [name] } });
        expect(served(response)).toEqual([200, `both@${name}`]);
        await usage();
      }
      second.faults.next({ kind: 'status', status: 503 });
      const failed = await chat({ model, provider: { order: ['second'] } });
      expect(served(failed)).toEqual([200, 'both@first']);
      await usage();
    },
  );

  test('a target that failed for one model of a request is not tried again for the next', async () => {
    await setRoute({});
    first.faults.always({ kind: 'status', status: 503 });
    const before = first.requestCount;
    const response = await chat({ model: 'primary', models: [model] });
    expect(served(response)).toEqual([200, 'spare@second']);
    expect(first.requestCount).toBe(before + 1);
    await usage();
    await setRoute({ targets: [{ model: 'primary', priority: 0, weight: 1 }] });
    const failed = await chat({ model: 'primary', models: [model] });
    expect(failed.status).toBe(502);
    expect(first.requestCount).toBe(before + 2);
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

describe('the request log', () => {
  const ask = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${gateway.url}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, ...headers },
      body: JSON.stringify(body),
    });
  const log = () => gateway.test.context.database.requestLog;
  const logged = (response: Response) => loggedRequest(gateway.test.context, response);

  test.each(REFUSED_REQUESTS)('has what $path refuses: $code', async ({ path, body, code }) => {
    const response = await ask(path, body);
    expect(await logged(response)).toMatchObject({
      requestId: response.headers.get('x-request-id'),
      userId: gateway.userId,
      keyId: gateway.keyId,
      status: response.status,
      errorCode: code,
      error: expect.stringMatching(/./),
      upstream: null,
      attempts: null,
      repeats: 1,
    });
  });

  test('has the attempts of a request that failed, under the id of the client', async () => {
    for (const { faults } of [first, second]) faults.always({ kind: 'status', status: 500 });
    const id = `client-${newId()}`;
    const body = { model: 'both', messages, stream: true };
    const request = await logged(await ask('chat/completions', body, { 'x-request-id': id }));
    expect(request).toMatchObject({ requestId: id, status: 502, errorCode: 'bad_gateway' });
    expect(request.id).not.toBe(id);
    const tried = { model: 'both', outcome: 'failed', reason: 'server_error', status: 500 };
    expect(request.attempts).toMatchObject([tried, tried]);
    expect(request.attempts?.map(({ backend }) => backend).toSorted()).toEqual(['first', 'second']);
    const { spend } = gateway.test.context.database;
    const since = new Date(Date.now() - 3_600_000);
    const filter = { userId: gateway.userId, since, until: new Date(Date.now() + 60_000) };
    const { groups } = await spend.summary(filter, 'model');
    expect(groups.map(({ key }) => key)).toEqual(expect.arrayContaining(['both', null]));
    expect(groups.map(({ key }) => key)).not.toContain('none');
  });

  test('a request that a second backend answered is metered with its attempts and ids', async () => {
    first.faults.always({ kind: 'status', status: 503 });
    const provider = { order: ['first', 'second'] };
    const body = { model: 'both', messages, provider };
    const own = await ask('chat/completions', body);
    const [event] = await usage();
    expect(event).toMatchObject({ id: own.headers.get('x-request-id'), status: 200 });
    expect(event?.request_id).toBeUndefined();
    expect(event?.attempts).toMatchObject([
      { backend: 'first', outcome: 'failed', reason: 'server_error', status: 503 },
      { backend: 'second', outcome: 'answered', reason: null, status: null },
    ]);
    first.faults.clear();
    // An id that a client uses twice makes two rows.
    for (let time = 0; time < 2; time += 1) {
      await (await ask('chat/completions', body, { 'x-request-id': 'mine' })).text();
      const [again] = await usage();
      expect(again).toMatchObject({ request_id: 'mine' });
      expect(again?.id).not.toBe('mine');
      expect(again?.attempts).toBeUndefined();
    }
  });

  test('keeps what was skipped, and why, as the explanation says', async () => {
    const spare = await startChatUpstream({ models: ['both'] });
    await registerBackend(gateway, { type: 'external', name: 'third', url: spare.url });
    try {
      spare.faults.next({ kind: 'status', status: 429, retryAfterSecs: 60 });
      const limited = { model: 'both', messages, provider: { order: ['third'] } };
      await (await ask('chat/completions', limited)).text();
      await usage();
      const only = { model: 'both', messages, provider: { ignore: ['second'] } };
      await (await ask('chat/completions', only)).text();
      const [event] = await usage();
      expect(event?.attempts).toMatchObject([
        { backend: 'second', outcome: 'skipped', reason: 'not_preferred' },
        { backend: 'third', outcome: 'skipped', reason: 'cooling' },
        { backend: 'first', outcome: 'answered', reason: null },
      ]);
      const answer = await admin(gateway, 'GET', 'route?model=both&capability=chat');
      const { targets } = (await answer.json()) as { targets: { backend: string }[] };
      const third = targets.find(({ backend }) => backend === 'third');
      expect(third).toMatchObject({ position: null, reason: 'cooling' });
      expect(targets.slice(0, 2)).toMatchObject([{ position: 1 }, { position: 2 }]);
    } finally {
      await admin(gateway, 'DELETE', 'backends/by-name/third');
      await spare.close();
    }
  });

  test('the explanation for a key has its rules', async () => {
    const { userId } = gateway;
    const settings = { models: ['primary'] };
    const { key } = await keysOf(gateway.test).create({ userId, name: 'narrow', settings });
    const explain = async (query: string) => (await admin(gateway, 'GET', `route?${query}`)).json();
    expect(await explain(`model=primary&key=${key.id}`)).toMatchObject({
      key_id: key.id,
      targets: [
        { position: 1, backend: 'first', reason: null },
        { position: null, backend: 'second', reason: 'model_not_listed' },
      ],
    });
    expect(await explain(`model=spare&key=${key.id}`)).toMatchObject({
      targets: [
        { backend: 'second', reason: 'not_allowed', detail: 'the key does not allow the model' },
        { backend: 'first', reason: 'model_not_listed' },
      ],
    });
    expect((await admin(gateway, 'GET', 'route')).status).toBe(400);
    expect((await admin(gateway, 'GET', `route?model=spare&key=${newId()}`)).status).toBe(404);
  });

  test('bodies are kept for a key that says so, cut where they are long, and for no other', async () => {
    const keys = keysOf(gateway.test);
    const { userId } = gateway;
    const { secret } = await keys.create({ userId, name: 'kept', settings: { logBodies: true } });
    const at = { 'x-api-key': secret };
    const bodiesOf = async (response: Response) => {
      await response.text();
      const id = response.headers.get('x-request-id') ?? '';
      await waitUntil(async () => (await log().bodiesOf(id)) !== undefined);
      return log().bodiesOf(id);
    };
    const body = { model: 'primary', messages };
    expect(await bodiesOf(await ask('chat/completions', body, at))).toEqual({
      request: JSON.stringify(body),
      answer: expect.stringContaining('"chat.completion"'),
    });
    const streamed = await ask('chat/completions', { ...body, stream: true }, at);
    expect((await bodiesOf(streamed))?.answer).toMatch(/^data: [^]*data: \[DONE\]\n\n$/);
    first.faults.next({ kind: 'status', status: 400, body: { error: { message: 'so not' } } });
    expect((await bodiesOf(await ask('chat/completions', body, at)))?.answer).toContain('so not');
    await usage();
    const other = await ask('chat/completions', body);
    await other.text();
    await bodiesOf(await ask('chat/completions', body, at));
    expect(await log().bodiesOf(other.headers.get('x-request-id') ?? '')).toBeUndefined();
  });

  test('an unknown key leaves nothing', async () => {
    const headers = { 'x-api-key': 'service-none', 'x-request-id': newId() };
    expect((await ask('chat/completions', { model: 'none', messages }, headers)).status).toBe(401);
    const next = await ask('chat/completions', { model: 'none', messages });
    await logged(next);
    const requestId = headers['x-request-id'];
    expect((await log().list({ requestId }, { limit: 1 })).requests).toEqual([]);
  });

  test('a key over a limit and an expired one leave their user the refusal', async () => {
    const keys = keysOf(gateway.test);
    const { userId } = gateway;
    const limited = await keys.create({ userId, name: 'limited', settings: { rpm: 1 } });
    const at = { 'x-api-key': limited.secret };
    await (await ask('chat/completions', { model: 'none', messages }, at)).text();
    const refused = await ask('chat/completions', { model: 'none', messages }, at);
    expect(await logged(refused)).toMatchObject({
      status: 429,
      keyId: limited.key.id,
      errorCode: 'rate_limit_exceeded',
    });
    const past = await keys.create({ userId, name: 'past' });
    await gateway.test.query(`UPDATE api_keys SET expires_at = 'epoch' WHERE id = $1`, [
      past.key.id,
    ]);
    const old = { 'x-api-key': past.secret };
    const expired = await ask('chat/completions', { model: 'none', messages }, old);
    expect(expired.status).toBe(401);
    expect(await logged(expired)).toMatchObject({
      status: 401,
      errorCode: 'unauthorized',
      error: 'API key expired',
    });
  });
});
