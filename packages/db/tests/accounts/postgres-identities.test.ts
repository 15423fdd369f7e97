import { setTimeout as delay } from 'node:timers/promises';
import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const POLL_MS = 10;
/** Transactions of this database that wait for a row of another. */
const WAITING = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const HASH = 'hash of a squatter';

describe('an account that a person of the provider takes over', () => {
  let database: OpenedDatabase;
  const userId = newId();
  const signIn = { userId, familyId: newId() };
  const person = { issuer: 'https://id.example.com', subject: 'person-1' };

  beforeAll(async () => {
    database = await openTestDatabase();
    await database.users.create({
      id: userId,
      email: 'squatted@example.com',
      name: '',
      passwordHash: HASH,
      becomesAdmin: 'never',
    });
    await database.refreshTokens.save({
      tokenHash: sha256Hex('a refresh token'),
      familyId: signIn.familyId,
      userId,
      expiresAt: new Date(NOW.getTime() + 60_000),
    });
  });
  afterAll(() => database.close());

  const takeOver = () =>
    database.identities.takeOver({
      userId,
      person,
      nextHash: 'hash of nothing',
      isAdmin: true,
      now: NOW,
    });

  const createKey = (keys: OpenedDatabase['keys']) =>
    keys.create({
      id: newId(),
      userId,
      groupId: null,
      name: 'k',
      keyHash: sha256Hex(newId()),
      keyPrefix: 'service-',
      keyHint: 'service-…',
      project: 'default',
    });

  it('stays as it is as long as no admin allows it', async () => {
    expect(await takeOver()).toBeUndefined();
    expect((await database.users.findByEmail('squatted@example.com'))?.passwordHash).toBe(HASH);
  });

  it('has no key of a call that was under way, and no later call of that sign-in', async () => {
    await database.userDirectory.update(
      userId,
      { providerClaim: { isAllowed: true, byId: undefined } },
      NOW,
    );
    let taking: ReturnType<typeof takeOver> | undefined;
    await database.transaction(async ({ users, keys }) => {
      expect(await users.holdSignIn(signIn)).toMatchObject({ id: userId });
      taking ??= takeOver();
      while ((await database.raw.query(WAITING)).length === 0) await delay(POLL_MS);
      await createKey(keys);
    });
    expect(await taking).toMatchObject({ id: userId, isAdmin: true });
    expect(await database.keys.list(userId, 10, NOW)).toMatchObject([{ revokedAt: NOW }]);
    expect(await database.users.holdSignIn(signIn)).toBeUndefined();
    expect(await database.identities.findByPerson(person)).toMatchObject({
      user: { id: userId },
      person,
      passwordHash: 'hash of nothing',
      isClaimable: false,
    });
  });

  it('is bound to one person, and a person to one account', async () => {
    const other = { ...person, subject: 'person-2' };
    const binding = { passwordHash: 'hash of nothing', hasProviderRole: false };
    expect(await database.identities.bind({ userId, person: other, ...binding })).toBe(false);
    const next = await database.users.create({
      id: newId(),
      email: 'next@example.com',
      name: '',
      passwordHash: 'hash of nothing',
    });
    expect(await database.identities.bind({ userId: next.id, person, ...binding })).toBe(false);
    const changed = { ...binding, passwordHash: 'an earlier hash' };
    expect(await database.identities.bind({ userId: next.id, person: other, ...changed })).toBe(
      false,
    );
    expect(await database.identities.bind({ userId: next.id, person: other, ...binding })).toBe(
      true,
    );
  });
});
