import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { loggedRequest } from '../logged-requests.ts';
import { takeUsage } from '../money/usage-journal.ts';
import { sendJson, startRelayUpstream, type RelayUpstream } from '../relay/relay-upstream.ts';

const KEYS = ['the-first-of-two-keys', 'the-second-of-two-keys'];
const messages = [{ role: 'user', content: 'Hi' }];

let gateway: GatewayUnderTest;
let upstream: RelayUpstream;
let backends = 0;
/** What the upstream answers to the next calls; then it accepts every key. */
let refusals: number[] = [];
const keysUsed = new Set<string>();

beforeAll(async () => {
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' });
  upstream = await startRelayUpstream({ models: ['m'] });
  upstream.answer(({ request, response, path }) => {
    keysUsed.add(String(request.headers.authorization));
    const status = refusals.shift();
    if (status !== undefined) return sendJson(response, { error: { message: 'no' } }, status);
    if (path.endsWith('/images/generations')) return sendJson(response, { data: [{ url: 'x' }] });
    const choice = { index: 0, finish_reason: 'stop' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const message = { role: 'assistant', content: 'Hello' };
    return sendJson(response, { model: 'm', choices: [{ ...choice, message }], usage });
  });
});
beforeEach(async () => {
  refusals = [];
  keysUsed.clear();
  // The keys of a new registration do not rest.
  backends += 1;
  const capabilities = ['chat', 'images'];
  const backend = { type: 'external', name: 'keys', url: upstream.url, capabilities };
  await registerBackend(gateway, { ...backend, api_keys: KEYS, models: ['m', `v${backends}`] });
});
afterAll(async () => {
  await gateway.test.close();
  await upstream.close();
});

const ask = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key },
    body: JSON.stringify({ model: 'm', ...body }),
  });

const attempt = { backend: 'keys', model: 'm' };

describe.each([
  { path: 'chat/completions', body: { messages } },
  { path: 'images/generations', body: { prompt: 'a cat' } },
])('$path', ({ path, body }) => {
  test.each([
    { status: 401, reason: 'refused' },
    { status: 429, reason: 'rate_limited' },
  ])('a key that is refused with $status is an attempt of its own', async ({ status, reason }) => {
    refusals = [status];
    expect((await ask(path, body)).status).toBe(200);
    const [event] = await takeUsage(gateway.test.context.bus.journal, 1);
    expect(event?.attempts).toMatchObject([
      { ...attempt, outcome: 'failed', reason, status },
      { ...attempt, outcome: 'answered', reason: null, status: null },
    ]);
    expect(keysUsed.size).toBe(2);
  });

  test('with every key refused, each one is an attempt', async () => {
    refusals = [401, 429];
    const request = await loggedRequest(gateway.test.context, await ask(path, body));
    expect(request.attempts).toMatchObject([
      { ...attempt, outcome: 'failed', reason: 'refused', status: 401 },
      { ...attempt, outcome: 'failed', reason: 'rate_limited', status: 429 },
    ]);
  });
});
