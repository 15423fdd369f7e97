import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-01-31T00:00:00Z');
const before = (days: number): Date => new Date(NOW.getTime() - days * DAY_MS);

describe('sign-in addresses in Postgres', () => {
  let database: OpenedDatabase;
  let userId: string;
  let email: string;

  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    userId = newId();
    email = `${userId}@example.com`;
    await database.users.create({ id: userId, email, name: '', passwordHash: 'hash' });
  });

  const save = (address: string, at: Date, keptMax = 100) =>
    database.signInAddresses.save(userId, sha256Hex(address), at, keptMax);
  const has = (address: string, since: Date, of = email) =>
    database.signInAddresses.has(of, sha256Hex(address), since);

  it('are known from their last sign-in on, for their account alone', async () => {
    await save('192.0.2.1', before(40));
    expect(await has('192.0.2.1', before(30))).toBe(false);
    await save('192.0.2.1', before(10));
    await save('192.0.2.1', before(20));
    expect(await has('192.0.2.1', before(10))).toBe(true);
    expect(await has('192.0.2.2', before(30))).toBe(false);
    expect(await has('192.0.2.1', before(30), 'unknown@example.com')).toBe(false);
  });

  it('are kept up to a limit per user, the newest ones', async () => {
    for (let day = 5; day > 0; day -= 1) await save(`192.0.2.${day}`, before(day), 3);
    const known = await Promise.all(
      [1, 2, 3, 4, 5].map((day) => has(`192.0.2.${day}`, before(30))),
    );
    expect(known).toEqual([true, true, true, false, false]);
  });

  it('are deleted when they are old, so many at a time', async () => {
    for (const day of [50, 60, 70]) await save(`192.0.2.${day}`, before(day));
    await save('192.0.2.1', before(1));
    await database.signInAddresses.removeBefore(before(30), 2);
    const left = await Promise.all([50, 60, 70, 1].map((day) => has(`192.0.2.${day}`, before(90))));
    expect(left).toEqual([true, false, false, true]);
  });
});

describe('users by sign-in in Postgres', () => {
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  it('are found until the sign-in is revoked or they are deactivated', async () => {
    const id = newId();
    const email = `${id}@example.com`;
    await database.users.create({
      id,
      email,
      name: '',
      passwordHash: 'hash',
      becomesAdmin: 'never',
    });
    const [first, second] = [newId(), newId()];
    for (const familyId of [first, second]) {
      const token = { tokenHash: sha256Hex(familyId), familyId, userId: id };
      await database.refreshTokens.save({ ...token, expiresAt: new Date('2099-01-01') });
    }
    const found = async (familyId: string | undefined) =>
      (await database.users.findBySignIn({ userId: id, familyId }))?.email;
    expect(await Promise.all([first, second, undefined].map(found))).toEqual([email, email, email]);
    await database.refreshTokens.revokeFamily(first, NOW);
    expect(await Promise.all([first, second, undefined].map(found))).toEqual([
      undefined,
      email,
      email,
    ]);
    expect(await database.refreshTokens.revokeUser(id, NOW)).toEqual([second]);
    expect(await found(second)).toBeUndefined();
    expect(await database.userDirectory.update(id, { isActive: false }, new Date())).toMatchObject({
      id,
      isActive: false,
    });
    expect(await found(undefined)).toBeUndefined();
    expect(await database.users.findById(id)).toBeUndefined();
    expect(await database.users.findByEmail(email)).toBeUndefined();
    expect(
      await database.userDirectory.update(newId(), { isActive: false }, new Date()),
    ).toBeUndefined();
  });
});
