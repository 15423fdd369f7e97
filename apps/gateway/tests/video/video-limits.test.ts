import { createAccountEvents } from '@model-gateway/accounts';
import type { TierChanges } from '@model-gateway/billing';
import { videoSubmittedSchema } from '@model-gateway/contracts';
import { createRequestCounter } from '@model-gateway/inference';
import { newId } from '@model-gateway/kernel';
import { usageEvent, waitUntil } from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { registerBackend, startGateway } from '../gateway.ts';
import type { GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
let video: RunningCloudVideo;
let key = '';
let userId = '';

beforeEach(async () => {
  gateway = await startGateway({
    SERVICE_API_RATE_LIMIT_RPM: '100000',
    SERVICE_MAX_BODY_BYTES: '1000000',
  });
  ({ key, userId } = gateway);
  video = await startCloudVideo();
  const models = ['v-1'];
  await registerBackend(gateway, { type: 'cloud-video', name: 'cloud', url: video.url, models });
});
afterEach(async () => {
  await gateway.test.close();
  await video.close();
});

async function setTier(changes: TierChanges): Promise<void> {
  const { database, bus, log } = gateway.test.context;
  await database.plans.saveTier('free', changes);
  const events = createAccountEvents({ channels: bus.channels, counters: bus.counters, log });
  await events.changed({ kind: 'tiers' });
}
async function spend(costUsd: number): Promise<void> {
  const { database, bus } = gateway.test.context;
  const event = usageEvent(userId, { total_tokens: 0, cost: costUsd });
  const { facts } = await database.usage.record([event], { pointsPerUsd: 100 });
  await bus.admission.updateHints(facts);
}
const submit = (
  model = 'v-1',
  headers: Readonly<Record<string, string>> = {},
  fields: object = {},
): Promise<Response> =>
  fetch(`${gateway.url}/v1/video/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ model, prompt: 'a cat', ...fields }),
  });
const poll = (id: string): Promise<Response> =>
  fetch(`${gateway.url}/v1/video/generations/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });

test.each([
  { field: 'prompt', charsMax: 32_000, of: (text: string) => text },
  { field: 'negative_prompt', charsMax: 32_000, of: (text: string) => text },
  { field: 'provider', charsMax: 255, of: (text: string) => text },
  {
    field: 'extra',
    charsMax: 64 * 1024 - '{"style":""}'.length,
    of: (style: string) => ({ style }),
  },
])('a job keeps at most $charsMax characters of $field', async ({ field, charsMax, of }) => {
  const send = (chars: number) => submit('v-1', {}, { [field]: of('x'.repeat(chars)) });
  const largest = await send(charsMax);
  // There is no backend with this name.
  expect(largest.status).toBe(field === 'provider' ? 503 : 200);
  const refused = await send(charsMax + 1);
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    error: { message: expect.stringContaining(`'${field}'`) },
  });
});

test('the tier counts submissions, and never polls', async () => {
  await setTier({ rpm: 2 });
  const first = await submit();
  const { id } = videoSubmittedSchema.parse(await first.json());
  for (let polls = 0; polls < 5; polls += 1) expect((await poll(id)).status).toBe(200);
  expect((await submit()).status).toBe(200);
  const refused = await submit();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect(await refused.json()).toMatchObject({
    error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  });
  expect((await poll(id)).status).toBe(200);
});

test('a drained tier refuses a job, whatever its cost', async () => {
  await setTier({ monthlyUsdQuota: 1 });
  await spend(0.999);
  expect((await submit()).status).toBe(200);
  await spend(0.001);
  const refused = await submit();
  expect(refused.status).toBe(429);
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    error: { type: 'quota_error', code: 'quota_exceeded' },
  });
});

test('a repeated submission gets its job, although the job has reserved the rest of the quota and the backend is away', async () => {
  const { videoPricing } = gateway.test.context.database;
  await videoPricing.save({
    model: 'v-1',
    mode: 'per_call',
    basePrice: 2,
    pricePerSecond: 0,
    pricePerFrame: 0,
    resolutionCoeff: {},
    currency: 'USD',
    enabled: true,
  });
  await setTier({ monthlyUsdQuota: 1 });
  const repeat = { 'idempotency-key': 'order-17' };
  const { id } = videoSubmittedSchema.parse(await (await submit('v-1', repeat)).json());
  expect((await submit()).status).toBe(429);
  const repeated = await submit('v-1', repeat);
  expect(repeated.status).toBe(200);
  expect(videoSubmittedSchema.parse(await repeated.json())).toMatchObject({ id, status: 'queued' });
  await setTier({ monthlyUsdQuota: null });
  expect((await submit('unknown')).status).toBe(503);
  expect((await submit('unknown', repeat)).status).toBe(409);
  expect(await gateway.test.context.database.videoJobs.list(userId, 10)).toHaveLength(1);
});

test('points pay on a drained tier, because video always has a price, until they are used up', async () => {
  const { database, bus } = gateway.test.context;
  await setTier({ monthlyUsdQuota: 1 });
  await spend(1);
  const groupId = newId();
  await database.groups.create({ id: groupId, ownerId: userId, name: 'g', description: '' });
  const user = await database.users.findById(userId);
  await database.ledger.topUp({ groupId, points: 5 });
  await database.ledger.allocate({ groupId, points: 5, email: user?.email ?? '' });
  const wallet = { type: 'user', id: userId } as const;
  const account = { ...wallet, ...(await database.billingFacts.account(wallet)) };
  await bus.admission.updateHints({ windows: [], accounts: [account] });
  expect((await submit()).status).toBe(200);
  await spend(0.05);
  const refused = await submit();
  expect(refused.status).toBe(402);
  expect(await refused.json()).toMatchObject({
    error: { type: 'insufficient_credits', code: 'payment_required' },
  });
});

test('every authenticated request counts in the limit of the process, polls too', async () => {
  const limited = await startGateway({ SERVICE_API_RATE_LIMIT_RPM: '2' });
  const ask = () =>
    fetch(`${limited.url}/v1/video/generations/${newId()}`, {
      headers: { authorization: `Bearer ${limited.key}` },
    });
  expect([(await ask()).status, (await ask()).status]).toEqual([404, 404]);
  const refused = await ask();
  expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([
    429,
    null,
    'Rate limit exceeded. Try again later.',
  ]);
  await limited.test.close();
});

test('accepted jobs are counted for the whole installation, refused ones and polls are not', async () => {
  const { bus, clock, log } = gateway.test.context;
  const elsewhere = createRequestCounter({ counters: bus.counters, clock, log });
  const { id } = videoSubmittedSchema.parse(await (await submit()).json());
  expect((await submit('unknown')).status).toBe(503);
  expect((await poll(id)).status).toBe(200);
  expect((await submit()).status).toBe(200);
  await waitUntil(async () => (await elsewhere.read()).total >= 2);
  expect(await elsewhere.read()).toEqual({ total: 2, perMinute: 2 });
});
