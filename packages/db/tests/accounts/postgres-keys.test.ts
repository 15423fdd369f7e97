import { NO_KEY_SETTINGS, type KeySettings, type NewApiKey } from '@model-gateway/accounts';
import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';

describe('API keys in Postgres', () => {
  let database: OpenedDatabase;
  let userId: string;
  let groupId: string;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  beforeEach(async () => {
    userId = newId();
    groupId = newId();
    await database.users.create({
      id: userId,
      email: `${userId}@example.com`,
      name: '',
      passwordHash: 'hash',
    });
    await database.raw.query(`INSERT INTO groups (id, owner_id, name) VALUES ($1, $2, 'g')`, [
      groupId,
      userId,
    ]);
    await database.raw.query(`INSERT INTO group_members (group_id, user_id) VALUES ($1, $2)`, [
      groupId,
      userId,
    ]);
  });

  const newKey = (values: Partial<NewApiKey> = {}): NewApiKey => ({
    id: newId(),
    userId,
    groupId: null,
    name: 'laptop',
    keyHash: sha256Hex(newId()),
    keyPrefix: 'service-',
    keyHint: 'service-3f2a…c91d',
    project: 'default',
    ...values,
  });

  it('are shown as they were created, without the hash', async () => {
    const { keyHash, ...key } = newKey({ project: 'tests' });
    const created = await database.keys.create({ ...key, keyHash });
    expect(created).toEqual({
      ...key,
      active: true,
      createdAt: expect.any(Date),
      lastUsedAt: null,
      revokedAt: null,
      settings: NO_KEY_SETTINGS,
      spentUsd: 0,
      previousUntil: null,
    });
  });

  it('speak for their owner until they are revoked', async () => {
    const key = newKey({ project: 'tests' });
    await database.raw.query('UPDATE users SET is_admin = true WHERE id = $1', [userId]);
    await database.keys.create(key);
    expect(await database.keys.findHolder(key.keyHash)).toEqual({
      holder: {
        keyId: key.id,
        userId,
        groupId: null,
        keyPrefix: 'service-',
        project: 'tests',
      },
      owner: { email: `${userId}@example.com`, isAdmin: true },
      limits: {
        tier: { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100_000, rpm: 10 },
        groupRpm: null,
        costMultiplier: 1,
      },
      settings: NO_KEY_SETTINGS,
      replacedUntil: null,
    });
    expect(await database.keys.findHolder(sha256Hex('another'))).toBeUndefined();

    const at = new Date('2026-01-02T03:04:05.678Z');
    expect(await database.keys.revoke(userId, key.id, at)).toBe(true);
    expect(await database.keys.findHolder(key.keyHash)).toBeUndefined();
    expect(await database.keys.revoke(userId, key.id, new Date())).toBe(true);
    expect(await database.keys.list(userId, 10, new Date())).toMatchObject([
      { id: key.id, active: false, revokedAt: at },
    ]);
  });

  const SETTINGS: KeySettings = {
    expiresAt: new Date('2030-01-02T03:04:05Z'),
    budgetUsd: 12.5,
    budgetPeriod: 'week',
    rpm: 7,
    tpm: 900,
    models: ['gpt-*', 'demo'],
    addresses: ['10.0.0.0/8', '2001:db8::/32'],
    metadata: { team: 'shop', nested: { a: [1, null] } },
    logBodies: true,
    cacheTtlSecs: 60,
  };

  it('keep the settings that their owner gives them', async () => {
    const key = newKey({ settings: SETTINGS });
    expect(await database.keys.create(key)).toMatchObject({ settings: SETTINGS });
    expect((await database.keys.list(userId, 1, new Date()))[0]).toMatchObject({
      settings: SETTINGS,
    });
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({ settings: SETTINGS });
    const at = new Date();
    const changed = { ...SETTINGS, rpm: null, models: [], metadata: null };
    const change = (settings: KeySettings) => ({
      ...settings,
      rpm: null,
      models: [],
      metadata: null,
    });
    expect(await database.keys.update(newId(), key.id, change, { at })).toBeUndefined();
    expect(await database.keys.update(userId, key.id, change, { name: 'other', at })).toMatchObject(
      {
        id: key.id,
        name: 'other',
        settings: changed,
      },
    );
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({ settings: changed });
    await database.keys.revoke(userId, key.id, at);
    expect(await database.keys.update(userId, key.id, change, { at })).toBeUndefined();
  });

  it('are not active after their time', async () => {
    await database.keys.create(newKey({ settings: SETTINGS }));
    const isActiveAt = async (time: string) =>
      (await database.keys.list(userId, 1, new Date(time)))[0]?.active;
    expect(await isActiveAt('2030-01-02T03:04:04Z')).toBe(true);
    expect(await isActiveAt('2030-01-02T03:04:05Z')).toBe(false);
  });

  it('have the secret before the last rotation for a time, and no earlier one', async () => {
    const key = newKey();
    const [first, second, third] = [key.keyHash, sha256Hex(newId()), sha256Hex(newId())];
    await database.keys.create(key);
    const at = new Date();
    const previousUntil = new Date(at.getTime() + 60_000);
    const rotate = (keyHash: string, until: Date | null = previousUntil, owner = userId) =>
      database.keys.rotate(owner, key.id, { keyHash, keyHint: 'new', previousUntil: until }, at);
    const until = async (hash: string) => (await database.keys.findHolder(hash))?.replacedUntil;
    expect(await rotate(second, previousUntil, newId())).toBeUndefined();
    expect(await rotate(second)).toMatchObject({ id: key.id, keyHint: 'new', previousUntil });
    expect([await until(first), await until(second)]).toEqual([previousUntil, null]);
    await rotate(third);
    expect(await Promise.all([first, second, third].map(until))).toEqual([
      undefined,
      previousUntil,
      null,
    ]);
    await rotate(first, null);
    expect(await Promise.all([first, second, third].map(until))).toEqual([
      null,
      undefined,
      undefined,
    ]);
    await database.keys.revoke(userId, key.id, at);
    expect(await rotate(second)).toBeUndefined();
  });

  it('have what they spent by period, exactly the sum of their rows, and each threshold once', async () => {
    const key = newKey({ settings: { ...NO_KEY_SETTINGS, budgetUsd: 1, budgetPeriod: 'week' } });
    await database.keys.create(key);
    const spend = async (day: string, ...costs: (number | null)[]) => {
      const events = costs.map((cost) => ({
        id: newId(),
        user_id: userId,
        key_id: key.id,
        api_key_id: 'service-',
        project: 'default',
        group_id: null,
        model: 'm',
        backend: 'gateway',
        prompt_tokens: 1,
        completion_tokens: 0,
        total_tokens: 1,
        cost,
        multiplier: 1,
        ref_id: null,
        created_at: `${day}T12:00:00.000Z`,
      }));
      const { facts } = await database.usage.record(events, { pointsPerUsd: 100 });
      // The same events again change nothing.
      await database.usage.record(events, { pointsPerUsd: 100 });
      return facts.budgets;
    };
    const window = { keyId: key.id, period: 'week', start: '2026-03-02' } as const;
    expect(await spend('2026-03-01', 0.7)).toMatchObject([{ start: '2026-02-23', costUsd: 0.7 }]);
    expect(await spend('2026-03-02', 0.1, 0.2, null)).toEqual([
      { ...window, costUsd: 0.3, version: 3 },
    ]);
    expect(await spend('2026-03-08', 0.5, 0.4)).toEqual([{ ...window, costUsd: 1.2, version: 5 }]);
    expect(await database.billingFacts.budget(window)).toMatchObject({ costUsd: 1.2, version: 5 });
    const [listed] = await database.keys.list(userId, 1, new Date('2026-03-04T00:00:00Z'));
    expect(listed?.spentUsd).toBe(1.2);
    const crossed = await database.raw.query(
      `SELECT start::text, percent FROM budget_thresholds
       WHERE key_id = $1 AND published_at IS NULL ORDER BY start, percent`,
      [key.id],
    );
    expect(crossed).toEqual([
      { start: '2026-02-23', percent: 50 },
      { start: '2026-03-02', percent: 50 },
      { start: '2026-03-02', percent: 80 },
      { start: '2026-03-02', percent: 100 },
    ]);
    const changed = [];
    for await (const { budgets = [] } of database.billingFacts.changedSince(new Date(0)))
      changed.push(...budgets);
    expect(changed.map(({ keyId }) => keyId)).toContain(key.id);
  });

  it('report what is spent already when their budget is lowered, and again what a raised one reaches', async () => {
    const key = newKey();
    await database.keys.create(key);
    const spent = { user_id: userId, key_id: key.id, cost: 0.9 };
    await database.usage.record([usageEvent({ ...spent, created_at: new Date().toISOString() })], {
      pointsPerUsd: 100,
    });
    const reportedAt = async (budgetUsd: number) => {
      const budget = { budgetUsd, budgetPeriod: 'month' } as const;
      const at = new Date();
      await database.keys.update(userId, key.id, (settings) => ({ ...settings, ...budget }), {
        at,
      });
      const rows = await database.raw.query<{ percent: number }>(
        'SELECT percent FROM budget_thresholds WHERE key_id = $1 ORDER BY percent',
        [key.id],
      );
      return rows.map(({ percent }) => percent);
    };
    expect(await reportedAt(10)).toEqual([]);
    expect(await reportedAt(1)).toEqual([50, 80]);
    expect(await reportedAt(0.5)).toEqual([50, 80, 100]);
    expect(await reportedAt(0.1)).toEqual([50, 80, 100]);
    expect(await reportedAt(1.5)).toEqual([50]);
    expect(await reportedAt(1)).toEqual([50, 80]);
  });

  it('and conversations and groups are not for someone who was erased', async () => {
    await database.userDirectory.erase(userId, undefined, new Date());
    const gone = { code: 'not_found', message: 'user not found' };
    await expect(database.keys.create(newKey(), 10)).rejects.toMatchObject(gone);
    const title = 'private';
    const created = database.conversations.create({ id: newId(), userId, title });
    await expect(created).rejects.toMatchObject(gone);
    const group = { id: newId(), ownerId: userId, name: 'g', description: '' };
    await expect(database.groups.create(group)).rejects.toMatchObject(gone);
  });

  it('are revoked only by their owner', async () => {
    const key = newKey();
    await database.keys.create(key);
    expect(await database.keys.revoke(newId(), key.id, new Date())).toBe(false);
    expect(await database.keys.revoke(userId, newId(), new Date())).toBe(false);
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({
      holder: { keyId: key.id },
    });
  });

  it('are listed newest first, only one’s own and only so many', async () => {
    const ids: string[] = [];
    for (const name of ['first', 'second', 'third']) {
      ids.unshift((await database.keys.create(newKey({ name }))).id);
    }
    const listed = await database.keys.list(userId, 10, new Date());
    expect(listed.map(({ id }) => id)).toEqual(ids);
    expect(listed[0]).toEqual({
      id: ids[0],
      userId,
      groupId: null,
      name: 'third',
      keyPrefix: 'service-',
      keyHint: 'service-3f2a…c91d',
      project: 'default',
      active: true,
      createdAt: expect.any(Date),
      lastUsedAt: null,
      revokedAt: null,
      settings: NO_KEY_SETTINGS,
      spentUsd: 0,
      previousUntil: null,
    });
    expect((await database.keys.list(userId, 2, new Date())).map(({ id }) => id)).toEqual(
      ids.slice(0, 2),
    );
    expect(await database.keys.list(newId(), 10, new Date())).toEqual([]);
    // A key that works stays in the list, however many were created and revoked since.
    await database.keys.revoke(userId, ids[1] ?? '', new Date());
    await database.keys.revoke(userId, ids[0] ?? '', new Date());
    expect((await database.keys.list(userId, 2, new Date())).map(({ id }) => id)).toEqual([
      ids[0],
      ids[2],
    ]);
  });

  it('are shown as active only while they are accepted', async () => {
    await database.keys.create(newKey({ groupId }));
    const isActive = async () => (await database.keys.list(userId, 1, new Date()))[0]?.active;
    expect(await isActive()).toBe(true);
    await database.raw.query('UPDATE group_members SET is_active = false WHERE group_id = $1', [
      groupId,
    ]);
    expect(await isActive()).toBe(false);
    await database.raw.query('DELETE FROM group_members WHERE group_id = $1', [groupId]);
    expect(await isActive()).toBe(false);
    await database.raw.query('DELETE FROM groups WHERE id = $1', [groupId]);
    expect(await isActive()).toBe(true);
  });

  it('of a group stop working with the membership', async () => {
    const key = newKey({ groupId });
    await database.keys.create(key);
    const setActive = (isActive: boolean) =>
      database.raw.query('UPDATE group_members SET is_active = $2 WHERE group_id = $1', [
        groupId,
        isActive,
      ]);

    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({ holder: { groupId } });
    await setActive(false);
    expect(await database.keys.findHolder(key.keyHash)).toBeUndefined();
    await setActive(true);
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({ holder: { groupId } });
    await database.raw.query('DELETE FROM group_members WHERE group_id = $1', [groupId]);
    expect(await database.keys.findHolder(key.keyHash)).toBeUndefined();
  });

  it.each([
    ['inactive', 'UPDATE group_members SET is_active = false WHERE group_id = $1'],
    ['no longer a member', 'DELETE FROM group_members WHERE group_id = $1'],
  ])(
    'of a group where their owner is %s count in the limit until they are revoked',
    async (_what, leave) => {
      const [first, second] = [newKey({ groupId }), newKey({ groupId })];
      for (const key of [first, second]) await database.keys.create(key, 2);
      await database.raw.query(leave, [groupId]);
      // They work again with the membership.
      await expect(database.keys.create(newKey(), 2)).rejects.toMatchObject({
        code: 'rate_limit_exceeded',
      });
      await database.keys.revoke(userId, first.id, new Date());
      expect(await database.keys.create(newKey(), 2)).toMatchObject({ active: true });
    },
  );

  it('that have expired count in the limit, because their time can be changed', async () => {
    const settings = { ...NO_KEY_SETTINGS, expiresAt: new Date('2026-01-01T00:00:00Z') };
    await database.keys.create(newKey({ settings }), 1);
    await expect(database.keys.create(newKey(), 1)).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    });
  });

  it('of a group become personal when the group is deleted', async () => {
    const key = newKey({ groupId });
    await database.keys.create(key);
    await database.raw.query('DELETE FROM groups WHERE id = $1', [groupId]);
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({
      holder: { keyId: key.id, groupId: null },
    });
  });
});
