import { manualClock, newId, sha256Hex } from '@model-gateway/kernel';
import { createTestContext, type TestContext } from '@model-gateway/testkit';
import { createWatch } from '@model-gateway/webhooks';

interface StoredEvent {
  readonly type: string;
  readonly group_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const DAY_MS = 86_400_000;

let test_: TestContext;
let userId: string;
beforeAll(async () => {
  test_ = await createTestContext();
  const { id } = await test_.context.database.users.create({
    id: newId(),
    email: 'owner@example.com',
    name: 'Owner',
    passwordHash: 'not used',
  });
  userId = id;
});
afterEach(() => test_.query('DELETE FROM outbox_events'));
afterAll(() => test_.close());

async function stored(): Promise<readonly StoredEvent[]> {
  const rows = await test_.query(
    'SELECT type, group_id, data FROM outbox_events ORDER BY created_at, key',
  );
  return rows as unknown as readonly StoredEvent[];
}

const types = async (): Promise<readonly string[]> => (await stored()).map(({ type }) => type);

async function addKey(values: {
  readonly name: string;
  readonly groupId?: string;
  readonly createdAt?: Date;
  readonly expiresAt?: Date;
  readonly revokedAt?: Date;
}): Promise<string> {
  const id = newId();
  await test_.query(
    `INSERT INTO api_keys (id, user_id, group_id, name, key_hash, key_prefix, key_hint, created_at, expires_at, revoked_at)
     VALUES ($1, $2, $3, $4, $5, 'service-', 'hint', $6, $7, $8)`,
    [
      id,
      userId,
      values.groupId ?? null,
      values.name,
      sha256Hex(id),
      values.createdAt ?? new Date(),
      values.expiresAt ?? null,
      values.revokedAt ?? null,
    ],
  );
  return id;
}

test('each threshold of a budget is one event, however many workers look for it', async () => {
  const groupId = newId();
  await test_.context.database.groups.create({
    id: groupId,
    ownerId: userId,
    name: 'team',
    description: '',
  });
  const keyId = await addKey({ name: 'ci', groupId });
  await test_.query(
    `INSERT INTO budget_thresholds (key_id, period, start, percent, budget_usd, spent_usd)
     SELECT $1, 'month', '2026-03-01', percent, 20, 16.04 FROM unnest(ARRAY[50, 80]) AS percent`,
    [keyId],
  );
  const { eventSources } = test_.context.database;
  await Promise.all(Array.from({ length: 5 }, () => eventSources.addBudgetThresholds()));
  expect(await eventSources.addBudgetThresholds()).toBe(false);
  const events = await stored();
  expect(new Set(events.map(({ data }) => data['percent']))).toEqual(new Set([50, 80]));
  expect(events).toHaveLength(2);
  expect(events.find(({ data }) => data['percent'] === 80)).toEqual({
    type: 'budget.threshold',
    group_id: groupId,
    data: {
      key_id: keyId,
      key_name: 'ci',
      user_id: userId,
      group_id: groupId,
      percent: 80,
      period: 'month',
      start: '2026-03-01',
      budget_usd: 20,
      spent_usd: 16.04,
    },
  });
  // The row in which it was taken and the event are one statement: a threshold that comes back is known.
  await test_.query('UPDATE budget_thresholds SET published_at = NULL');
  await eventSources.addBudgetThresholds();
  expect(await stored()).toHaveLength(2);
  // That of a budget that was raised is another one.
  await test_.query(
    'UPDATE budget_thresholds SET published_at = NULL, budget_usd = 40 WHERE percent = 80',
  );
  await eventSources.addBudgetThresholds();
  expect(await stored()).toHaveLength(3);
});

test('a key that expires is reported 7 days and 1 day before, once each', async () => {
  const start = Date.parse('2026-03-01T00:00:00Z');
  const at = (days: number): Date => new Date(start + days * DAY_MS);
  const keyId = await addKey({ name: 'old', createdAt: at(-30), expiresAt: at(10) });
  await addKey({ name: 'revoked', createdAt: at(-30), expiresAt: at(10), revokedAt: at(-1) });
  await addKey({ name: 'short', createdAt: at(0), expiresAt: at(0.5) });
  await addKey({ name: 'endless', createdAt: at(-30) });
  const { eventSources: sources, outbox } = test_.context.database;
  const clock = manualClock(start);
  const watches = [1, 2].map(() =>
    createWatch({ outbox, sources, backends: () => [], clock, nodeTimeoutMs: 30_000 }),
  );
  const days: number[] = [];
  for (let hour = 0; hour < 11 * 24; hour += 6) {
    for (const watch of watches) await watch();
    if ((await stored()).length > days.length) days.push(hour / 24);
    clock.advance(6 * 3_600_000);
  }
  // The first look that finds it within the time.
  expect(days).toEqual([3, 9]);
  expect((await stored()).map(({ data }) => data)).toEqual(
    expect.arrayContaining(
      [7, 1].map((left) => ({
        key_id: keyId,
        key_name: 'old',
        user_id: userId,
        group_id: null,
        expires_at: '2026-03-11T00:00:00.000Z',
        days: left,
      })),
    ),
  );
});

test('a backend is reported once for each change, by however many processes', async () => {
  let isHealthy: boolean | undefined;
  const { eventSources: sources, outbox } = test_.context.database;
  const clock = manualClock(0);
  const backends = () => [{ name: 'cloud', isHealthy }];
  const watches = [1, 2, 3].map(() =>
    createWatch({ outbox, sources, backends, clock, nodeTimeoutMs: 30_000 }),
  );
  const round = async (state: boolean | undefined): Promise<readonly string[]> => {
    isHealthy = state;
    await Promise.all(watches.map((watch) => watch()));
    return types();
  };
  expect(await round(undefined)).toEqual([]);
  expect(await round(true)).toEqual([]);
  expect(await round(false)).toEqual(['backend.unhealthy']);
  expect(await round(false)).toHaveLength(1);
  expect(await round(true)).toEqual(['backend.unhealthy', 'backend.healthy']);
  // A process that starts knows what was reported.
  await createWatch({ outbox, sources, backends, clock, nodeTimeoutMs: 30_000 })();
  expect(await round(true)).toHaveLength(2);
  expect(await round(false)).toHaveLength(3);
  expect((await stored())[0]?.data).toEqual({ backend: 'cloud' });
});

test('a GPU node that was connected and stays away is reported once', async () => {
  const id = newId();
  const clock = manualClock(Date.parse('2026-03-01T00:00:00Z'));
  const heartbeat = (connectionId: string | null) =>
    test_.query(
      `INSERT INTO agent_nodes (id, name, token_hash, version, connection_id, last_heartbeat_at)
       VALUES ($1, 'gpu-1', $2, '1', $3, $4)
       ON CONFLICT (id) DO UPDATE SET connection_id = $3, last_heartbeat_at = $4`,
      [id, sha256Hex(id), connectionId, new Date(clock.now())],
    );
  const { eventSources: sources, outbox } = test_.context.database;
  const watches = [1, 2].map(() =>
    createWatch({ outbox, sources, backends: () => [], clock, nodeTimeoutMs: 30_000 }),
  );
  const round = async (): Promise<readonly string[]> => {
    for (const watch of watches) await watch();
    return types();
  };
  await heartbeat(newId());
  expect(await round()).toEqual([]);
  await heartbeat(null);
  clock.advance(29_000);
  // It may connect again.
  expect(await round()).toEqual([]);
  clock.advance(2_000);
  expect(await round()).toEqual(['node.offline']);
  expect(await round()).toHaveLength(1);
  expect((await stored())[0]?.data).toEqual({ node_id: id, node_name: 'gpu-1' });
  await heartbeat(newId());
  await round();
  await heartbeat(null);
  clock.advance(31_000);
  expect(await round()).toHaveLength(2);
});
