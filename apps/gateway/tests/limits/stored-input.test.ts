import { createAccountEvents } from '@model-gateway/accounts';
import type { TierChanges } from '@model-gateway/billing';
import { waitUntil } from '@model-gateway/testkit';
import { randomBytes } from 'node:crypto';
import { startSlowUpstream, type SlowUpstream } from '../chat/slow-upstream.ts';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';

const MODEL = 'demo-chat';
const BODY_BYTES_MAX = 1_000_000;
const CALLS_MAX = 2;
/** What no reader of a stored text can parse: a request that reads one ends with 500. */
const UNREADABLE = 'unreadable';

let gateway: GatewayUnderTest;
let upstream: SlowUpstream;

beforeAll(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_MAX_BODY_BYTES: String(BODY_BYTES_MAX),
    SERVICE_MAX_CALLS_PER_USER: String(CALLS_MAX),
  });
  upstream = await startSlowUpstream(MODEL);
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url });
});
afterAll(async () => {
  await upstream.close();
  await gateway.test.close();
});

async function setTier(changes: TierChanges): Promise<void> {
  const { database, bus, log } = gateway.test.context;
  await database.plans.saveTier('free', changes);
  const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
  await events.changed({ kind: 'tiers' });
}

interface Stored {
  readonly id: string;
  /** Of its only item. */
  readonly itemId: string;
}

/** Stores a response of one item with a text of this length. */
async function store({
  previous = null as string | null,
  chars = 10,
  isReadable = true,
  items = 1,
  emptyParts = 0,
  tools = 0,
} = {}): Promise<Stored> {
  const hex = randomBytes(16).toString('hex');
  const stored: Stored = { id: `resp_${hex}`, itemId: `msg_${hex}i0` };
  const content = [
    { type: 'input_text', text: 'x'.repeat(chars) },
    ...Array.from({ length: emptyParts }, () => []),
  ];
  const item = { type: 'message', role: 'user', id: stored.itemId, content };
  const text = JSON.stringify([item]);
  const saved = {
    id: stored.id,
    userId: gateway.userId,
    previousId: previous,
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 600_000),
    input: isReadable ? text : UNREADABLE.padEnd(text.length, '.'),
    response: isReadable
      ? JSON.stringify({ output: [], tools: Array.from({ length: tools }, () => []) })
      : UNREADABLE,
    inputItems: items,
    outputItems: 0,
    largestInputBytes: text.length - 2,
    largestOutputBytes: 0,
  };
  await gateway.test.context.database.responses.save(saved, Number.MAX_SAFE_INTEGER);
  return stored;
}

const send = (path: string, body?: object, key = gateway.key): Promise<Response> =>
  fetch(`${gateway.url}/v1/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}` },
    ...(body === undefined ? {} : { body: JSON.stringify({ model: MODEL, ...body }) }),
  });

const references = (itemId: string, count = 1) =>
  Array.from({ length: count }, () => ({ type: 'item_reference', id: itemId }));
const continued = (id: string) => ({ input: 'Hi', store: false, previous_response_id: id });
const referenced = (itemId: string, count = 1) => ({
  store: false,
  input: references(itemId, count),
});

/** Every way in which a request names what is stored. */
const NAMED: readonly {
  readonly what: string;
  /** Whether it is a call of a model. */
  readonly isPaid?: boolean;
  readonly ask: (stored: Stored, key?: string) => Promise<Response>;
}[] = [
  {
    what: 'previous_response_id',
    isPaid: true,
    ask: ({ id }, key) => send('responses', continued(id), key),
  },
  {
    what: 'item_reference',
    isPaid: true,
    ask: ({ itemId }, key) => send('responses', referenced(itemId), key),
  },
  {
    what: 'previous_response_id of input_tokens',
    ask: ({ id }, key) => send('responses/input_tokens', continued(id), key),
  },
  {
    what: 'item_reference of input_tokens',
    ask: ({ itemId }, key) => send('responses/input_tokens', referenced(itemId), key),
  },
  { what: 'a response', ask: ({ id }, key) => send(`responses/${id}`, undefined, key) },
  {
    what: 'input_items',
    ask: ({ id }, key) => send(`responses/${id}/input_items?limit=1`, undefined, key),
  },
];

async function codeOf(response: Response): Promise<string | null> {
  const { error } = (await response.json()) as { error: { code: string | null } };
  return error.code;
}

describe.each(NAMED)('$what', ({ ask, isPaid = false }) => {
  test('is read when the request is admitted, and not before its limits allow it', async () => {
    const broken = await store({ isReadable: false });
    expect((await ask(broken)).status).toBe(500);
    const settings = { rpm: 1 };
    const limited = await keysOf(gateway.test).create({
      userId: gateway.userId,
      name: 'limited',
      settings,
    });
    expect((await ask(broken, limited.secret)).status).toBe(500);
    const refused = await ask(broken, limited.secret);
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain('1 requests per minute');
  });

  test('is not read while the user has as many calls as allowed', async () => {
    const broken = await store({ isReadable: false });
    const leaving = new AbortController();
    const inFlight = Array.from({ length: CALLS_MAX }, () =>
      fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify({ model: MODEL, input: 'Hi', store: false }),
        signal: leaving.signal,
      }).catch(() => undefined),
    );
    await upstream.untilWaiting(CALLS_MAX);
    const refused = await ask(broken);
    expect(refused.status).toBe(429);
    expect(await refused.text()).toContain(`at most ${CALLS_MAX} per user`);
    leaving.abort();
    await Promise.all(inFlight);
    await waitUntil(async () => (await ask(broken)).status === 500, { what: 'a free call' });
  });

  test('is not read for a request that the quota refuses', async () => {
    const broken = await store({ isReadable: false });
    await setTier({ monthlyTokenQuota: 0 });
    const answered = await ask(broken);
    await setTier({ monthlyTokenQuota: null });
    // What costs nothing needs no quota.
    expect(answered.status).toBe(isPaid ? 429 : 500);
  });
});

const TOO_LARGE = [
  {
    why: 'a chain that has too many bytes',
    body: async () => {
      const first = await store({ chars: BODY_BYTES_MAX / 2, isReadable: false });
      const last = await store({
        previous: first.id,
        chars: BODY_BYTES_MAX / 2,
        isReadable: false,
      });
      return continued(last.id);
    },
  },
  {
    why: 'a chain that has too many items',
    body: async () => continued((await store({ items: 10_000, isReadable: false })).id),
  },
  {
    why: 'an item that is referenced too often',
    body: async () =>
      referenced((await store({ chars: BODY_BYTES_MAX / 4, isReadable: false })).itemId, 4),
  },
  {
    why: 'many references to a small item',
    body: async () => referenced((await store({ chars: 10_000, isReadable: false })).itemId, 1_000),
  },
];

describe.each(['responses', 'responses/input_tokens'])('/v1/%s', (path) => {
  test.each(TOO_LARGE)('$why is refused before it is read', async ({ body }) => {
    const refused = await send(path, await body());
    expect({ status: refused.status, code: await codeOf(refused) }).toEqual({
      status: 400,
      code: 'context_too_large',
    });
  });
});

test('as much as a body may have is served, and references count as often as they are named', async () => {
  const { itemId, id } = await store({ chars: BODY_BYTES_MAX / 4 });
  const counted = await send('responses/input_tokens', referenced(itemId, 3));
  const { input_tokens: three } = (await counted.json()) as { input_tokens: number };
  const single = await send('responses/input_tokens', continued(id));
  const { input_tokens: one } = (await single.json()) as { input_tokens: number };
  expect(three / one).toBeCloseTo(3, 1);
  // In memory they count, too.
  const held = async (): Promise<number> => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/^service_request_body_bytes (\d+)$/m.exec(metrics)?.[1]);
  };
  const leaving = new AbortController();
  const asking = fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: JSON.stringify({ model: MODEL, ...referenced(itemId, 3) }),
    signal: leaving.signal,
  }).catch(() => undefined);
  await upstream.untilWaiting(1);
  expect(await held()).toBeGreaterThan(0.75 * BODY_BYTES_MAX);
  leaving.abort();
  await asking;
  await waitUntil(async () => (await held()) === 0, { what: 'free memory' });
});

test('values count as well as bytes, in chains and as often as they are named', async () => {
  const { id, itemId } = await store({ emptyParts: 60_000 });
  const refused = { error: expect.objectContaining({ code: 'context_too_large' }) };
  const named = await send('responses', { input: references(itemId, 5), store: false });
  expect([named.status, await named.json()]).toEqual([400, expect.objectContaining(refused)]);
  let previous = id;
  for (let length = 1; length < 5; length += 1)
    previous = (await store({ previous, emptyParts: 60_000 })).id;
  const chained = await send('responses', {
    input: 'Hi',
    previous_response_id: previous,
    store: false,
  });
  expect([chained.status, await chained.json()]).toEqual([400, expect.objectContaining(refused)]);
});

test('the tools that each response of a chain repeats are no values of its items', async () => {
  let previous: string | null = null;
  for (let length = 0; length < 6; length += 1)
    previous = (await store({ previous, tools: 45_000 })).id;
  const answer = await send('responses/input_tokens', continued(previous ?? ''));
  expect([answer.status, await answer.json()]).toMatchObject([200, {}]);
});

test('a page of input items reads only the responses that it touches', async () => {
  const first = await store({ isReadable: false });
  const second = await store({ previous: first.id });
  const third = await store({ previous: second.id });
  const page = async (query: string) =>
    send(`responses/${third.id}/input_items?${query}`).then(async (response) => ({
      status: response.status,
      body: (await response.json()) as { data?: { id: string }[]; has_more?: boolean },
    }));
  const newest = await page('limit=1');
  expect(newest.body).toMatchObject({ data: [{ id: third.itemId }], has_more: true });
  const next = await page(`limit=1&after=${third.itemId}`);
  expect(next.body).toMatchObject({ data: [{ id: second.itemId }], has_more: true });
  expect((await page(`limit=1&after=${second.itemId}`)).status).toBe(500);
  expect((await page('limit=1&order=asc')).status).toBe(500);
  expect((await page(`order=asc&after=${second.itemId}`)).body).toMatchObject({
    data: [{ id: third.itemId }],
    has_more: false,
  });
});

test('what is stored counts with the items that it references', async () => {
  upstream.answerAll();
  const { itemId } = await store({ chars: BODY_BYTES_MAX / 4 });
  const answered = await send('responses', { input: references(itemId, 3) });
  const { id, store: isStored } = (await answered.json()) as { id: string; store: boolean };
  expect(isStored).toBe(true);
  const sizes = await gateway.test.context.database.responses.sizes(
    gateway.userId,
    [id],
    new Date(),
  );
  expect(sizes).toMatchObject([{ inputItems: 3, outputItems: 1 }]);
  expect(sizes[0]?.bytes).toBeGreaterThan(0.75 * BODY_BYTES_MAX);
});
