import { manualClock, newId, sha256Hex, type Part } from '@model-gateway/kernel';
import { createResolveReceiver, createSendRequest } from '@model-gateway/outbound';
import type { AppContext } from '@model-gateway/server-process';
import {
  createTestContext,
  fullSize,
  insertAccount,
  startSmtpServer,
  testRedisUrl,
  usageEvent,
  waitUntil,
  type TestContext,
} from '@model-gateway/testkit';
import {
  createDeliver,
  createWebhooks,
  type Delivery,
  type NewEvent,
  type Webhook,
} from '@model-gateway/webhooks';
import { Webhook as Verifier } from 'standardwebhooks';
import { readVideoWorkerConfig } from '../src/config.ts';
import { createWebhookRunner } from '../src/webhooks/webhook-runner.ts';
import { startReceiver, type TestReceiver } from './receiver.ts';

let test_: TestContext;
let receiver: TestReceiver;
const running: Part[] = [];
beforeAll(async () => {
  test_ = await createTestContext();
});
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((runner) => runner.stop()));
  await receiver.close();
  await test_.query('DELETE FROM webhooks');
  await test_.query('DELETE FROM outbox_events');
});
afterAll(() => test_.close());

/** The part of a worker that delivers. */
async function startRunner(
  context: AppContext = test_.context,
  env: Readonly<Record<string, string>> = { SERVICE_WEBHOOK_ALLOW_PRIVATE: '1' },
): Promise<Part> {
  const config = readVideoWorkerConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: testRedisUrl(),
    SERVICE_REDIS_PREFIX: test_.redisPrefix,
    ...env,
  });
  const runner = createWebhookRunner(config, context, { list: () => [] });
  await runner.start();
  running.push(runner);
  return runner;
}

type Request = Parameters<ReturnType<typeof createWebhooks>['create']>[0];

const rules = (): ReturnType<typeof createWebhooks> =>
  createWebhooks({ ...test_.context.database, clock: test_.context.clock });

const createWebhook = (request: Partial<Request> = {}) =>
  rules().create({
    url: `${receiver.url}/hook`,
    events: ['key.expiring'],
    format: 'standard',
    groupId: null,
    createdById: null,
    ...request,
  });

function expiring(values: Partial<NewEvent> = {}): NewEvent {
  const data = { key_name: 'build', expires_at: '2026-03-08T00:00:00.000Z' };
  return { key: `key.expiring:${newId()}`, type: 'key.expiring', groupId: null, data, ...values };
}

async function deliveriesOf({ id: webhookId }: Webhook): Promise<readonly Delivery[]> {
  const { deliveries } = await test_.context.database.deliveries.list({ webhookId, countMax: 200 });
  return deliveries;
}

async function delivered(webhook: Webhook, count: number): Promise<readonly Delivery[]> {
  await waitUntil(
    async () =>
      (await deliveriesOf(webhook)).filter(({ status }) => status === 'delivered').length >= count,
    { what: `${count} deliveries` },
  );
  return deliveriesOf(webhook);
}

async function publish(now = Date.now()): Promise<void> {
  const { outbox } = test_.context.database;
  while (await outbox.publish({ now: new Date(now), pendingMax: 1_000, withMail: false }));
}

test('an event arrives once, signed so that the library of Standard Webhooks verifies it', async () => {
  await startRunner();
  const { webhook, secret } = await createWebhook();
  const event = expiring();
  expect(await test_.context.database.outbox.add(event)).toBe(true);
  expect(await test_.context.database.outbox.add(event)).toBe(false);
  const [delivery] = await delivered(webhook, 1);
  expect(delivery).toMatchObject({ attempts: 1, responseStatus: 200, error: null });
  const [request] = receiver.received;
  expect(receiver.received).toHaveLength(1);
  expect(request).toMatchObject({
    path: '/hook',
    headers: { 'content-type': 'application/json', 'webhook-id': `evt_${delivery?.eventId}` },
  });
  const headers = request?.headers as Record<string, string>;
  expect(new Verifier(secret).verify(request?.body ?? '', headers)).toEqual({
    type: 'key.expiring',
    timestamp: expect.any(String),
    data: event.data,
  });
});

test('a webhook receives only the events that it names, and a group only its own', async () => {
  const { id: ownerId } = await test_.context.database.users.create({
    id: newId(),
    email: `${newId()}@example.com`,
    name: 'Owner',
    passwordHash: 'not used',
  });
  const groupId = newId();
  await test_.context.database.groups.create({
    id: groupId,
    ownerId,
    name: 'team',
    description: '',
  });
  const platform = await createWebhook();
  const ofGroup = await createWebhook({ groupId });
  const other = await createWebhook({ events: ['video.done'] });
  const { outbox } = test_.context.database;
  const events = [expiring(), expiring({ groupId }), expiring({ groupId: newId() })];
  for (const event of events) await outbox.add(event);
  await publish();
  const counts = [platform, ofGroup, other].map(
    async ({ webhook }) => (await deliveriesOf(webhook)).length,
  );
  expect(await Promise.all(counts)).toEqual([3, 1, 0]);
});

test('two workers deliver each event exactly once', async () => {
  await Promise.all([startRunner(), startRunner(await test_.openPeer())]);
  const { webhook } = await createWebhook();
  const count = fullSize(60, { small: 16 });
  const events = Array.from({ length: count }, () => expiring());
  // Both report every event, as two replicas do.
  for (const event of [...events, ...events]) await test_.context.database.outbox.add(event);
  await delivered(webhook, count);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(count);
  expect(ids).toHaveLength(count);
});

test('two processes that record the spend of a key cause one delivery for each threshold and period', async () => {
  const peer = await test_.openPeer();
  await Promise.all([startRunner(), startRunner(peer)]);
  const { webhook } = await createWebhook({ events: ['budget.threshold'] });
  const { database } = test_.context;
  const userId = await insertAccount(database, 'spender@example.com');
  const keyId = newId();
  await test_.query(
    `INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, key_hint, budget_usd, budget_period)
     VALUES ($1, $2, 'ci', $3, 'service-', 'hint', 1, 'day')`,
    [keyId, userId, sha256Hex(keyId)],
  );
  for (const start of ['2026-03-01', '2026-03-02']) {
    const spend = Array.from({ length: 24 }, (_, turn) =>
      (turn % 2 === 0 ? test_.context : peer).database.usage.record(
        [usageEvent(userId, { key_id: keyId, cost: 0.05, created_at: `${start}T12:00:00.000Z` })],
        { pointsPerUsd: 100 },
      ),
    );
    await Promise.all(spend);
  }
  await delivered(webhook, 6);
  const sent = receiver.received.map(({ body }) => {
    const { data } = JSON.parse(body) as { data: { start: string; percent: number } };
    return `${data.start} ${data.percent}`;
  });
  expect(sent.toSorted()).toEqual(
    ['2026-03-01', '2026-03-02'].flatMap((start) =>
      [100, 50, 80].map((part) => `${start} ${part}`),
    ),
  );
});

test('an event that was stored while no worker ran is delivered by the next one', async () => {
  const { webhook } = await createWebhook();
  const first = await startRunner();
  await first.stop();
  await test_.context.database.outbox.add(expiring());
  // Its delivery was made, and the worker stopped before it was queued.
  await publish();
  await test_.context.database.outbox.add(expiring());
  await startRunner();
  await delivered(webhook, 2);
  expect(receiver.received).toHaveLength(2);
});

test('a receiver that does not answer does not hold up others', async () => {
  const silent = await startReceiver();
  silent.answer(() => undefined);
  const stuck = await createWebhook({ url: silent.url, events: ['video.done'] });
  const { webhook } = await createWebhook();
  await startRunner();
  const { outbox } = test_.context.database;
  for (let index = 0; index < 40; index += 1)
    await outbox.add(expiring({ key: newId(), type: 'video.done' }));
  await waitUntil(() => silent.received.length >= 2, { what: 'requests to the silent receiver' });
  await outbox.add(expiring());
  await delivered(webhook, 1);
  const sent = silent.received.length;
  // On a slow machine some have met their time limit, and others took their places.
  const failed = (await deliveriesOf(stuck.webhook)).filter(({ error }) => error !== null);
  // More at once would take the places of others.
  expect(sent - failed.length).toBeLessThanOrEqual(2);
  await silent.close();
});

test('a private address is refused at delivery', async () => {
  const { webhook } = await createWebhook();
  await startRunner(test_.context, {});
  await test_.context.database.outbox.add(expiring());
  await waitUntil(async () => typeof (await deliveriesOf(webhook))[0]?.error === 'string', {
    what: 'the refusal',
  });
  expect((await deliveriesOf(webhook))[0]).toMatchObject({
    status: 'pending',
    error: expect.stringContaining('private address'),
  });
  expect(receiver.received).toEqual([]);
});

describe('attempts', () => {
  const start = Date.parse('2026-03-01T00:00:00Z');

  function createAttempts() {
    const clock = manualClock(start);
    const send = createSendRequest({ resolve: createResolveReceiver({ allowPrivate: true }) });
    const { deliveries } = test_.context.database;
    const deliver = createDeliver({ deliveries, send, clock, log: test_.context.log });
    return { clock, deliver };
  }

  async function oneDelivery(): Promise<{ readonly webhook: Webhook; readonly id: string }> {
    const { webhook } = await createWebhook();
    await test_.context.database.outbox.add(expiring());
    await publish(start);
    const [delivery] = await deliveriesOf(webhook);
    return { webhook, id: delivery?.id ?? '' };
  }

  test('are repeated over a day, the first after 30 s, and then given up', async () => {
    receiver.answer((response) => response.writeHead(500).end());
    const { webhook, id } = await oneDelivery();
    const { clock, deliver } = createAttempts();
    const pauses: number[] = [];
    for (;;) {
      const next = await deliver(id);
      if (next === undefined) break;
      pauses.push(next.afterMs);
      // A moment before its time nothing is sent.
      clock.advance(next.afterMs - 1);
      const { length } = receiver.received;
      expect(await deliver(id)).toEqual({ afterMs: expect.any(Number) });
      expect(receiver.received).toHaveLength(length);
      clock.advance(1);
    }
    expect(pauses.map((pauseMs) => pauseMs / 1000)).toEqual([
      30, 300, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800,
    ]);
    expect(await deliveriesOf(webhook)).toMatchObject([
      { status: 'failed', attempts: 9, responseStatus: 500, error: 'the receiver answered 500' },
    ]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(receiver.received).toHaveLength(9);
  });

  test.each([
    { why: 'a redirect', status: 302, ended: 'pending', error: expect.stringMatching('redirect') },
    { why: 'that it is gone', status: 410, ended: 'failed', error: 'the receiver answered 410' },
    { why: 'success', status: 204, ended: 'delivered', error: null },
  ])('of which one is answered with $why are $ended', async ({ status, ended, error }) => {
    receiver.answer((response) =>
      response.writeHead(status, { location: 'http://169.254.169.254/' }).end(),
    );
    const { webhook, id } = await oneDelivery();
    const { deliver } = createAttempts();
    await deliver(id);
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: ended, error, attempts: 1 }]);
    expect(receiver.received).toHaveLength(1);
  });

  test('of several workers at once are one', async () => {
    const { id } = await oneDelivery();
    const workers = Array.from({ length: 5 }, () => createAttempts());
    await Promise.all(workers.map(({ deliver }) => deliver(id)));
    expect(receiver.received).toHaveLength(1);
  });

  test('of a worker that crashed are repeated by another one after 30 s', async () => {
    const { webhook, id } = await oneDelivery();
    const { deliveries } = test_.context.database;
    // What a worker does before it sends the request.
    await deliveries.claim(id, new Date(start), new Date(start + 30_000));
    const { clock, deliver } = createAttempts();
    expect(await deliver(id)).toEqual({ afterMs: 30_000 });
    clock.advance(30_000);
    expect(await deliver(id)).toBeUndefined();
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
  });
});

test('deliveries beyond the limit of a webhook fail at once, and ended ones are removed after a while', async () => {
  const { webhook } = await createWebhook();
  const { outbox } = test_.context.database;
  const now = new Date();
  await outbox.add(expiring());
  await outbox.publish({ now, pendingMax: 1, withMail: false });
  await outbox.add(expiring());
  await outbox.publish({ now, pendingMax: 1, withMail: false });
  expect((await deliveriesOf(webhook)).map(({ status }) => status).toSorted()).toEqual([
    'failed',
    'pending',
  ]);
  const later = new Date(now.getTime() + 1_000);
  await outbox.removeOld(later, new Date(0));
  expect(await deliveriesOf(webhook)).toMatchObject([{ status: 'pending' }]);
  await outbox.removeOld(later, later);
  expect(await deliveriesOf(webhook)).toEqual([]);
});

test('all that is too old is removed, more than a worker removes at once', async () => {
  await test_.query(
    `WITH old AS (
       INSERT INTO outbox_events (id, key, type, data, published_at)
       SELECT gen_random_uuid(), 'old:' || number, 'key.expiring', '{}', now() - INTERVAL '61 days'
       FROM generate_series(1, 10001) AS number
       RETURNING id
     )
     INSERT INTO event_deliveries (event_id, status, next_attempt_at, finished_at)
     SELECT id, 'delivered', now(), now() - INTERVAL '15 days' FROM old`,
  );
  await startRunner();
  await waitUntil(
    async () => (await test_.query('SELECT 1 FROM outbox_events LIMIT 1')).length === 0,
    { what: 'the removal of old events' },
  );
  expect(await test_.query('SELECT 1 FROM event_deliveries')).toEqual([]);
});

test('long texts of an event are cut', async () => {
  const { webhook } = await createWebhook();
  await test_.context.database.outbox.add(expiring({ data: { error: 'x'.repeat(100_000) } }));
  await startRunner();
  await delivered(webhook, 1);
  const { data } = JSON.parse(receiver.received[0]?.body ?? '') as { data: { error: string } };
  expect(data.error).toHaveLength(1_000);
});

test('the owner of a key gets one mail for each threshold of its budget', async () => {
  const smtp = await startSmtpServer();
  const { database } = test_.context;
  const { id: userId } = await database.users.create({
    id: newId(),
    email: 'payer@example.com',
    name: 'Payer',
    passwordHash: 'not used',
  });
  const event = { type: 'budget.threshold', groupId: null, userId } as const;
  const data = { key_name: 'ci', percent: 80, spent_usd: 8, budget_usd: 10, period: 'day' };
  const env = { SERVICE_SMTP_URL: smtp.url };
  await Promise.all([startRunner(undefined, env), startRunner(await test_.openPeer(), env)]);
  for (let repeated = 0; repeated < 3; repeated += 1)
    await database.outbox.add({ ...event, key: 'budget.threshold:1', data });
  await waitUntil(() => smtp.mails.length > 0, { what: 'the mail' });
  await waitUntil(
    async () => {
      const [row] = await test_.query(`SELECT status FROM event_deliveries WHERE user_id = $1`, [
        userId,
      ]);
      return row?.['status'] === 'delivered';
    },
    { what: 'the end of the delivery' },
  );
  expect(smtp.mails).toMatchObject([{ to: ['payer@example.com'] }]);
  expect(smtp.mails[0]?.text).toContain('80 % of its budget');
  await smtp.close();
});
