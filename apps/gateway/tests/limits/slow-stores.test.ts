import { newId } from '@model-gateway/kernel';
import type { KeySettingChanges } from '@model-gateway/accounts';
import { openStoreLine, waitUntil, type StoreLine } from '@model-gateway/testkit';
import { keysOf, registerBackend, startGateway, type GatewayUnderTest } from '../gateway.ts';
import { startSlowUpstream, type SlowUpstream } from '../chat/slow-upstream.ts';

const MODEL = 'gpt-4o-mini';
/** Longer than a command of Redis may take. */
const LATE_MS = 1_300;
const AT_ONCE = 6;
const SURFACES: readonly Asked[] = [
  { path: 'chat/completions' },
  { path: 'chat/completions', body: { stream: true } },
  { path: 'responses', body: { messages: undefined, input: 'Hi', max_output_tokens: 5_000 } },
  { path: 'messages' },
  { path: 'completions', body: { messages: undefined, prompt: 'Hi' } },
  { path: 'chat/completions', settings: { budgetUsd: 0.001 } },
];

interface Asked {
  readonly path: string;
  readonly body?: object;
  /** Of a key whose user has no quota; otherwise the user has a quota with one token left. */
  readonly settings?: KeySettingChanges;
}

let lines: StoreLine[];
let gateway: GatewayUnderTest;
let upstream: SlowUpstream;

beforeAll(async () => {
  lines = [];
  const reach = async (storeUrl: string): Promise<string> => {
    const line = await openStoreLine(storeUrl);
    lines.push(line);
    return line.url;
  };
  gateway = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '100000' }, { reach });
  upstream = await startSlowUpstream(MODEL);
  const capabilities = ['chat', 'completions'];
  await registerBackend(gateway, { type: 'external', name: 'up', url: upstream.url, capabilities });
  const small = { monthlyUsdQuota: null, monthlyTokenQuota: 100, rpm: null };
  await gateway.test.context.database.plans.saveTier('small', small);
});
afterEach(async () => {
  delayStores(0, 0);
  const { bus } = gateway.test.context;
  await waitUntil(async () => bus.mode() === 'redis', { what: 'Redis' });
});
afterAll(async () => {
  await upstream.close();
  await gateway.test.close();
  await Promise.all(lines.map((line) => line.close()));
});

function delayStores(postgresMs: number, redisMs: number): void {
  for (const [place, line] of lines.entries())
    line.delayAnswers(place === 0 ? postgresMs : redisMs);
}

/** A key of a new user, whose usage Redis does not know yet. */
async function newKey(settings: KeySettingChanges | undefined): Promise<string> {
  const { database } = gateway.test.context;
  const email = `${newId()}@example.com`;
  const user = { id: newId(), email, name: '', passwordHash: 'not used' };
  await database.users.create(user);
  if (settings === undefined) {
    await database.plans.assign(email, 'small');
    await spend(user.id, 99);
  }
  const { secret } = await keysOf(gateway.test).create({ userId: user.id, name: 'key', settings });
  return secret;
}

async function spend(userId: string, tokens: number): Promise<void> {
  const event = {
    id: newId(),
    user_id: userId,
    key_id: null,
    api_key_id: 'service-',
    project: 'default',
    group_id: null,
    model: MODEL,
    backend: 'gateway',
    prompt_tokens: tokens,
    completion_tokens: 0,
    total_tokens: tokens,
    cost: 0,
    multiplier: 1,
    ref_id: null,
    created_at: new Date().toISOString(),
  };
  await gateway.test.context.database.usage.record([event], { pointsPerUsd: 100 });
}

const ask = (key: string, { path, body }: Asked, signal: AbortSignal): Promise<Response> =>
  fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: MODEL,
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 5_000,
      ...body,
    }),
    signal,
  });

/** Sends some requests with each key at once; returns the statuses of those that are refused, for each key. */
async function refusalsOf(keys: readonly string[], asked: readonly Asked[]) {
  const leaving = new AbortController();
  const refused = asked.map((): number[] => []);
  const asking = asked.flatMap((each, place) =>
    Array.from({ length: AT_ONCE }, async () => {
      const { status } = await ask(keys[place] ?? '', each, leaving.signal);
      refused[place]?.push(status);
    }),
  );
  const settled = Promise.allSettled(asking);
  // Those that are admitted wait for the upstream.
  await waitUntil(async () => refused.flat().length + upstream.waiting() === asking.length, {
    what: 'a decision about each request',
  });
  leaving.abort();
  await settled;
  await waitUntil(async () => upstream.waiting() === 0, { what: 'the end of the requests' });
  return refused;
}

test.each([
  { what: 'Postgres is slow', postgresMs: LATE_MS, redisMs: 0 },
  { what: 'Redis is slow', postgresMs: 0, redisMs: LATE_MS },
  { what: 'Redis is paused and Postgres slow', postgresMs: LATE_MS, redisMs: Infinity },
])('while $what, a quota or budget for one request admits one', async (delays) => {
  const keys = await Promise.all(SURFACES.map(({ settings }) => newKey(settings)));
  delayStores(delays.postgresMs, delays.redisMs);
  const refused = SURFACES.map(({ settings }) =>
    Array.from({ length: AT_ONCE - 1 }, () => (settings === undefined ? 429 : 402)),
  );
  expect(await refusalsOf(keys, SURFACES)).toEqual(refused);
});

test('while Postgres does not answer at all, what is in flight counts', async () => {
  const [chat, , , , , limited] = SURFACES;
  const asked = [chat, limited].filter((each) => each !== undefined);
  const keys = await Promise.all(asked.map(({ settings }) => newKey(settings)));
  // The keys are known from here on, their usage is not.
  for (const key of keys) {
    const models = await fetch(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(models.status).toBe(200);
  }
  delayStores(Infinity, 0);
  const refused = await refusalsOf(keys, asked);
  expect(refused.map(({ length }) => length)).toEqual([AT_ONCE - 1, AT_ONCE - 1]);
});
