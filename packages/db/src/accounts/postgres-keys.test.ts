import type { NewApiKey } from '@model-gateway/accounts';
import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../../tests/test-database.ts';

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
    });
  });

  it('speak for their owner until they are revoked', async () => {
    const key = newKey({ project: 'tests' });
    await database.keys.create(key);
    expect(await database.keys.findHolder(key.keyHash)).toEqual({
      holder: {
        keyId: key.id,
        userId,
        groupId: null,
        keyPrefix: 'service-',
        project: 'tests',
      },
      limits: {
        tier: { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100_000, rpm: 10 },
        groupRpm: null,
        costMultiplier: 1,
      },
    });
    expect(await database.keys.findHolder(sha256Hex('another'))).toBeUndefined();

    const at = new Date('2026-01-02T03:04:05.678Z');
    expect(await database.keys.revoke(userId, key.id, at)).toBe(true);
    expect(await database.keys.findHolder(key.keyHash)).toBeUndefined();
    expect(await database.keys.revoke(userId, key.id, new Date())).toBe(true);
    expect(await database.keys.list(userId, 10)).toMatchObject([
      { id: key.id, active: false, revokedAt: at },
    ]);
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
    const listed = await database.keys.list(userId, 10);
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
    });
    expect((await database.keys.list(userId, 2)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(await database.keys.list(newId(), 10)).toEqual([]);
  });

  it('are shown as active only while they are accepted', async () => {
    await database.keys.create(newKey({ groupId }));
    const isActive = async () => (await database.keys.list(userId, 1))[0]?.active;
    expect(await isActive()).toBe(true);
    expect(await database.memberships.isActiveMember(groupId, userId)).toBe(true);
    await database.raw.query('UPDATE group_members SET is_active = false WHERE group_id = $1', [
      groupId,
    ]);
    expect(await isActive()).toBe(false);
    expect(await database.memberships.isActiveMember(groupId, userId)).toBe(false);
    await database.raw.query('DELETE FROM group_members WHERE group_id = $1', [groupId]);
    expect(await isActive()).toBe(false);
    expect(await database.memberships.isActiveMember(groupId, userId)).toBe(false);
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

  it('of a group become personal when the group is deleted', async () => {
    const key = newKey({ groupId });
    await database.keys.create(key);
    await database.raw.query('DELETE FROM groups WHERE id = $1', [groupId]);
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({
      holder: { keyId: key.id, groupId: null },
    });
  });
});
