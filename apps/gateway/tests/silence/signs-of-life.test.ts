import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { loggedAs } from '../logged-requests.ts';
import { startHeldUpstream, type HeldUpstream } from './held-upstream.ts';
import { count, dataOf, readStream } from './stream-client.ts';

const SETTINGS = { SERVICE_API_RATE_LIMIT_RPM: '100000', SERVICE_BREAKER_FAILURES: '1000' };
const messages = [{ role: 'user', content: 'Hi' }];

/** How each surface is asked, its sign of life, and its own form of an error. */
const SURFACES = {
  'chat/completions': {
    body: { messages },
    sign: ': keep-alive\n\n',
    error: { error: { type: 'server_error', code: 'bad_gateway' } },
  },
  completions: {
    body: { prompt: 'Hi' },
    sign: ': keep-alive\n\n',
    error: { error: { type: 'server_error', code: 'bad_gateway' } },
  },
  messages: {
    body: { messages, max_tokens: 9 },
    sign: 'event: ping\ndata: {"type":"ping"}\n\n',
    error: { type: 'error', error: { type: 'api_error' } },
  },
  responses: {
    body: { input: 'Hi' },
    sign: 'event: response.in_progress\n',
    error: { type: 'response.failed', response: { status: 'failed' } },
  },
};
type Surface = keyof typeof SURFACES;
const PATHS = Object.keys(SURFACES) as Surface[];

const HEAD = { id: 'c', created: 1, model: 'm' };
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({
    ...HEAD,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, text: 'Hello', finish_reason: finish }],
  })}\n\n`;
const ANSWER = `${chunk({ content: 'Hello' })}${chunk({}, 'stop')}data: [DONE]\n\n`;

let gateway: GatewayUnderTest;
let upstream: HeldUpstream;
let other: HeldUpstream;

beforeAll(async () => {
  gateway = await startGateway({ ...SETTINGS, SERVICE_STREAM_KEEPALIVE_SECS: '0.05' });
  [upstream, other] = await Promise.all([startHeldUpstream(), startHeldUpstream('spare')]);
  const registration = { type: 'external', capabilities: ['chat', 'completions'] };
  await registerBackend(gateway, { ...registration, name: 'up', url: upstream.url });
  await registerBackend(gateway, { ...registration, name: 'other', url: other.url });
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([upstream.close(), other.close()]);
});

/** Asks, and waits for two signs of life. */
async function waitForSigns(path: Surface, fields: object = {}) {
  const { body, sign } = SURFACES[path];
  const stream = await readStream(gateway, path, { ...body, ...fields });
  await stream.until((text) => count(text, sign) > 1);
  return stream;
}

test.each(PATHS)(
  '/v1/%s opens while the upstream is silent, and tells so again and again',
  async (path) => {
    const stream = await waitForSigns(path);
    expect(stream.response.status).toBe(200);
    expect(stream.response.headers.get('content-type')).toContain('text/event-stream');
    (await upstream.next()).end(ANSWER);
    const text = await stream.rest();
    expect(text).toContain('Hello');
    expect(text).not.toContain('"error":{');
    const whole = { messages: 'message_stop', responses: 'response.completed' };
    expect(text).toContain(path in whole ? Reflect.get(whole, path) : '[DONE]');
  },
);

test('the signs of a response are the response so far, and its events stay numbered', async () => {
  const stream = await waitForSigns('responses');
  const held = await upstream.next();
  held.write(chunk({ content: 'Hel' }));
  const isLate = (text: string): boolean =>
    count(text.split('output_text.delta').at(-1) ?? '', 'response.in_progress') > 1;
  await stream.until((text) => text.includes('output_text.delta') && isLate(text));
  held.end(`${chunk({ content: 'lo' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
  const events = dataOf(await stream.rest());
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  expect(events.filter(({ type }) => type === 'response.created')).toHaveLength(1);
  const responses = events.flatMap(({ response }) =>
    response === undefined ? [] : [response as { id: string; output: unknown }],
  );
  expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
  const soFar = responses.filter(({ output }) => JSON.stringify(output).includes('"Hel"'));
  expect(soFar.length).toBeGreaterThan(0);
});

test.each(PATHS)('/v1/%s gets a later error as an event in its own form', async (path) => {
  const stream = await waitForSigns(path);
  (await upstream.next()).send(500, { error: { message: 'out of order' } });
  const text = await stream.rest();
  const last = dataOf(text).at(-1);
  expect(last).toMatchObject(SURFACES[path].error);
  expect(JSON.stringify(last)).toContain('out of order');
  const requestId = stream.response.headers.get('x-request-id');
  const row = await loggedAs(gateway.test.context, requestId);
  expect(row).toMatchObject({ status: 502 });
});

test.each(PATHS)('after that event, /v1/%s ends as its clients expect', async (path) => {
  const stream = await waitForSigns(path);
  (await upstream.next()).send(500, { error: { message: 'out of order' } });
  const isEnough = path === 'messages' || path === 'responses';
  await stream.rest();
  expect(stream.isWhole()).toBe(isEnough);
});

test.each(PATHS)('/v1/%s is answered by another model after that', async (path) => {
  const stream = await waitForSigns(path, { models: ['spare'] });
  (await upstream.next()).send(500, { error: { message: 'out of order' } });
  (await other.next()).end(ANSWER);
  const text = await stream.rest();
  expect(text).toContain('Hello');
  expect(text).not.toContain('out of order');
});

test('comments of the upstream reach a client, at once or before the first token', async () => {
  const early = readStream(gateway, 'chat/completions', SURFACES['chat/completions'].body);
  const held = await upstream.next();
  held.write(': thinking\n\n');
  const stream = await early;
  await stream.until((text) => text.includes(': keep-alive'));
  held.write(': still thinking\n\n');
  await stream.until((text) => text.includes(': still thinking'));
  held.end(ANSWER);
  const text = await stream.rest();
  expect(text.indexOf(': thinking')).toBeLessThan(text.indexOf('Hello'));
  expect(text).toContain(': thinking');
});

test('0 keeps quiet: an error is then a status', async () => {
  const quiet = await startGateway({ ...SETTINGS, SERVICE_STREAM_KEEPALIVE_SECS: '0' });
  try {
    await registerBackend(quiet, { type: 'external', name: 'up', url: upstream.url });
    const { body } = SURFACES['chat/completions'];
    const asked = readStream(quiet, 'chat/completions', body);
    const held = await upstream.next();
    // As long as another gateway needs for two signs.
    const stream = await waitForSigns('chat/completions');
    held.send(500, { error: { message: 'out of order' } });
    expect((await asked).response.status).toBe(502);
    (await upstream.next()).end(ANSWER);
    await stream.rest();
  } finally {
    await quiet.test.close();
  }
});

test('a client that leaves in the silence cancels the upstream', async () => {
  const hangUp = new AbortController();
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: 'm', stream: true, messages }),
    signal: hangUp.signal,
  });
  const held = await upstream.next();
  expect(response.status).toBe(200);
  hangUp.abort();
  await held.left;
});
