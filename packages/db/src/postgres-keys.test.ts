import type { NewApiKey } from '@model-gateway/accounts';
import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../tests/test-database.ts';

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
      createdAt: expect.any(Date),
      lastUsedAt: null,
      revokedAt: null,
    });
  });

  it('speak for their owner until they are revoked', async () => {
    const key = newKey({ project: 'tests' });
    await database.keys.create(key);
    expect(await database.keys.findHolder(key.keyHash)).toEqual({
      keyId: key.id,
      userId,
      groupId: null,
      keyPrefix: 'service-',
      project: 'tests',
    });
    expect(await database.keys.findHolder(sha256Hex('another'))).toBeUndefined();

    await database.raw.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
    expect(await database.keys.findHolder(key.keyHash)).toBeUndefined();
  });

  it('of a group stop working with the membership', async () => {
    const key = newKey({ groupId });
    await database.keys.create(key);
    const setActive = (isActive: boolean) =>
      database.raw.query('UPDATE group_members SET is_active = $2 WHERE group_id = $1', [
        groupId,
        isActive,
      ]);

    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({ groupId });
    await setActive(false);
    expect(await database.keys.findHolder(key.keyHash)).toBeUndefined();
    await setActive(true);
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({ groupId });
    await database.raw.query('DELETE FROM group_members WHERE group_id = $1', [groupId]);
    expect(await database.keys.findHolder(key.keyHash)).toBeUndefined();
  });

  it('of a group become personal when the group is deleted', async () => {
    const key = newKey({ groupId });
    await database.keys.create(key);
    await database.raw.query('DELETE FROM groups WHERE id = $1', [groupId]);
    expect(await database.keys.findHolder(key.keyHash)).toMatchObject({
      keyId: key.id,
      groupId: null,
    });
  });
});

describe('refresh tokens in Postgres', () => {
  it('are kept under their hash', async () => {
    const database = await openTestDatabase();
    const userId = newId();
    await database.users.create({
      id: userId,
      email: 'a@example.com',
      name: '',
      passwordHash: 'hash',
    });
    const token = {
      tokenHash: sha256Hex('t'),
      familyId: newId(),
      userId,
      expiresAt: new Date('2030-01-01T00:00:00Z'),
    };
    await database.refreshTokens.save(token);
    expect(await database.raw.query('SELECT * FROM refresh_tokens')).toEqual([
      {
        token_hash: token.tokenHash,
        family_id: token.familyId,
        user_id: userId,
        expires_at: token.expiresAt,
        used_at: null,
        revoked_at: null,
        created_at: expect.any(Date),
      },
    ]);
    await database.close();
  });
});
