import type { UsageEvent } from '@model-gateway/contracts';
import { RETRY_REASONS } from '@model-gateway/router';
import { waitUntil } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { takeUsage } from '../money/usage-journal.ts';

const ROUTE = 'hedged';
/** USD per million tokens, as built in. */
const PRICES: Readonly<Record<string, { readonly input: number; readonly output: number }>> = {
  'gpt-4o-mini': { input: 0.15, output: 0.6 },
  'gpt-4o': { input: 2.5, output: 10 },
};
const MILLION = 1_000_000;

let gateway: GatewayUnderTest;
let first: RunningChatUpstream;
let second: RunningChatUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_BREAKER_FAILURES: '1000',
  });
  first = await startChatUpstream({ models: ['gpt-4o-mini', 'plain'] });
  second = await startChatUpstream({ models: ['gpt-4o'] });
  await registerBackend(gateway, { type: 'external', name: 'first', url: first.url });
  await registerBackend(gateway, { type: 'external', name: 'second', url: second.url });
  const { database, bus } = gateway.test.context;
  await database.routeRules.set({
    model: ROUTE,
    targets: [
      { model: 'gpt-4o-mini', priority: 0, weight: 1 },
      { model: 'gpt-4o', priority: 1, weight: 1 },
    ],
    attempts: 2,
    retryOn: RETRY_REASONS,
    hedgeAfterMs: 1,
  });
  await bus.channels.publish('routes', ROUTE);
  await waitUntil(async () => {
    const headers = { 'x-api-key': gateway.key };
    return (await fetch(`${gateway.url}/v1/models/${ROUTE}`, { headers })).status === 200;
  });
});
afterEach(() => {
  for (const { faults } of [first, second]) faults.clear();
});
afterAll(async () => {
  await gateway.test.close();
  await Promise.all([first.close(), second.close()]);
});

const ask = (body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...body }),
    ...(signal === undefined ? {} : { signal }),
  });

/** The rows of these requests, and of one more that ends them: there are no others. */
async function rowsOf(ids: readonly string[]): Promise<readonly UsageEvent[]> {
  const last = await ask({ model: 'plain' });
  await last.text();
  const rows = await takeUsage(gateway.test.context.bus.journal, ids.length + 1);
  const expected = [...ids, last.headers.get('x-request-id') ?? ''];
  expect(rows.map(({ id }) => id).toSorted()).toEqual(expected.toSorted());
  return rows.filter(({ id }) => ids.includes(id));
}

const costOf = (model: string, prompt: number, completion: number): number => {
  const { input = NaN, output = NaN } = PRICES[model] ?? {};
  return (prompt * input + completion * output) / MILLION;
};

/** What was not used is on no bill of the user, but in the log. */
function expectUnbilled(row: UsageEvent): void {
  const hedged = (row.attempts ?? []).filter(({ reason }) => reason === 'hedged');
  for (const { backend, model, prompt_tokens, cost } of hedged) {
    expect(backend).not.toBe(row.upstream);
    expect(prompt_tokens).toBeGreaterThan(0);
    expect(cost).toBeCloseTo(costOf(model, prompt_tokens ?? 0, 0), 12);
  }
}

test('a target that does not begin is left for the next', async () => {
  for (const stream of [false, true]) {
    first.faults.always({ kind: 'hang' });
    const response = await ask({ model: ROUTE, stream });
    expect([response.status, response.headers.get('x-service-route')]).toEqual([
      200,
      'gpt-4o@second',
    ]);
    await response.text();
    first.faults.clear();
    const [row] = await rowsOf([response.headers.get('x-request-id') ?? '']);
    expect(row).toMatchObject({ model: 'gpt-4o', upstream: 'second', status: 200 });
    expect(row?.attempts).toMatchObject([
      { backend: 'first', outcome: 'left', reason: 'hedged', prompt_tokens: expect.any(Number) },
      { backend: 'second', outcome: 'answered' },
    ]);
  }
});

test('a client that leaves two targets gets one row', async () => {
  const before = [first.requestCount, second.requestCount] as const;
  for (const { faults } of [first, second]) faults.always({ kind: 'hang' });
  const left = new AbortController();
  const asked = ask({ model: ROUTE, stream: true }, left.signal).catch(() => undefined);
  await waitUntil(() => first.requestCount > before[0] && second.requestCount > before[1]);
  left.abort();
  await asked;
  const rows = await takeUsage(gateway.test.context.bus.journal, 1);
  expect(rows).toMatchObject([{ status: 499 }]);
  for (const row of rows) {
    expect(row.attempts).toMatchObject([
      { outcome: 'left', reason: 'hedged' },
      { outcome: 'left', reason: null },
    ]);
    expectUnbilled(row);
  }
  for (const { faults } of [first, second]) faults.clear();
  await rowsOf([]);
});

const HANG = { kind: 'hang' } as const;
const FAIL = { kind: 'status', status: 503 } as const;
/** What the two targets do; of two that hang, no request would end. */
const BEHAVIOURS = [
  { first: undefined, second: undefined },
  { first: undefined, second: FAIL },
  { first: undefined, second: HANG },
  { first: FAIL, second: undefined },
  { first: FAIL, second: FAIL },
  { first: HANG, second: undefined },
];
const SCRIPT = [false, true].flatMap((stream) => BEHAVIOURS.map((does) => ({ ...does, stream })));

/** Undefined if no target answers. */
async function run({ stream, ...does }: (typeof SCRIPT)[number]) {
  if (does.first !== undefined) first.faults.always(does.first);
  if (does.second !== undefined) second.faults.always(does.second);
  const options = stream ? { stream, stream_options: { include_usage: true } } : {};
  const response = await ask({ model: ROUTE, ...options });
  const text = await response.text();
  for (const upstream of [first, second]) upstream.faults.clear();
  const isDown = does.first === FAIL && does.second === FAIL;
  expect(response.status).toBe(isDown ? 502 : 200);
  const id = response.headers.get('x-request-id') ?? '';
  return isDown ? undefined : { id, text, route: response.headers.get('x-service-route') };
}

test('whatever the targets do, each answered request has one row, with the tokens and the price of its answer', async () => {
  const answered = new Map<string, { readonly route: string | null; readonly text: string }>();
  for (const request of SCRIPT) {
    const answer = await run(request);
    if (answer !== undefined) answered.set(answer.id, answer);
  }
  for (const row of await rowsOf([...answered.keys()])) {
    const { route, text = '' } = answered.get(row.id) ?? {};
    expect(`${row.model}@${row.upstream}`).toBe(route);
    expect(text).toMatch(new RegExp(`"prompt_tokens": ?${row.prompt_tokens}\\b`));
    expect(text).toMatch(new RegExp(`"completion_tokens": ?${row.completion_tokens}\\b`));
    expect(row.cost).toBeCloseTo(costOf(row.model, row.prompt_tokens, row.completion_tokens), 12);
    expectUnbilled(row);
  }
});
