import { newId, sha256Hex } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const LATER = new Date('2026-01-08T00:00:00Z');

describe('refresh tokens in Postgres', () => {
  let database: OpenedDatabase;
  let userId: string;
  let familyId: string;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  beforeEach(async () => {
    userId = newId();
    familyId = newId();
    await database.users.create({
      id: userId,
      email: `${userId}@example.com`,
      name: '',
      passwordHash: 'hash',
    });
  });

  const hashOf = (token: string) => sha256Hex(`${familyId}:${token}`);
  const save = (token: string, expiresAt = LATER) =>
    database.refreshTokens.save({ tokenHash: hashOf(token), familyId, userId, expiresAt });
  const rotate = async (token: string, successor: string) => {
    const rotation = await database.refreshTokens.rotate({
      tokenHash: hashOf(token),
      successorHash: hashOf(successor),
      successorExpiresAt: LATER,
      now: NOW,
    });
    return rotation.outcome;
  };
  const usable = async () => {
    const [row] = await database.raw.query<{ count: number }>(
      `SELECT count(*)::int FROM refresh_tokens
       WHERE family_id = $1 AND used_at IS NULL AND revoked_at IS NULL`,
      [familyId],
    );
    return row?.count;
  };

  it('are kept under their hash', async () => {
    await save('t');
    expect(
      await database.raw.query('SELECT * FROM refresh_tokens WHERE family_id = $1', [familyId]),
    ).toEqual([
      {
        token_hash: hashOf('t'),
        family_id: familyId,
        user_id: userId,
        expires_at: LATER,
        used_at: null,
        revoked_at: null,
        created_at: expect.any(Date),
      },
    ]);
  });

  it('are traded one for the next', async () => {
    await save('a');
    expect(await rotate('a', 'b')).toBe('rotated');
    expect(await rotate('b', 'c')).toBe('rotated');
    expect(await usable()).toBe(1);
  });

  it('are worth nothing when expired or unknown', async () => {
    await save('a', NOW);
    expect(await rotate('a', 'b')).toBe('expired');
    expect(await rotate('nothing', 'b')).toBe('unknown');
  });

  it('revoke their whole family when one comes back, and no other', async () => {
    await save('a');
    await rotate('a', 'b');
    await rotate('b', 'c');
    const otherFamily = newId();
    const other = { tokenHash: sha256Hex(otherFamily), familyId: otherFamily, userId };
    await database.refreshTokens.save({ ...other, expiresAt: LATER });
    expect(await rotate('a', 'd')).toBe('reused');
    expect(await usable()).toBe(0);
    expect(await rotate('c', 'd')).toBe('reused');
    const rotation = await database.refreshTokens.rotate({
      tokenHash: other.tokenHash,
      successorHash: hashOf('e'),
      successorExpiresAt: LATER,
      now: NOW,
    });
    expect(rotation).toEqual({ outcome: 'rotated', userId, familyId: otherFamily });
  });

  it('are traded again for the same successor for a short time, until that is used', async () => {
    const again = async (token: string, successor: string, now: Date) => {
      const rotation = await database.refreshTokens.rotate({
        tokenHash: hashOf(token),
        successorHash: hashOf(successor),
        successorExpiresAt: LATER,
        now,
        repeatableMs: 30_000,
      });
      return rotation.outcome;
    };
    const after = (secs: number) => new Date(NOW.getTime() + secs * 1000);
    await save('a');
    expect(await Promise.all([again('a', 'b', NOW), again('a', 'b', after(1))])).toEqual([
      'rotated',
      'rotated',
    ]);
    expect(await usable()).toBe(1);
    expect(await again('b', 'c', after(2))).toBe('rotated');
    expect(await again('a', 'b', after(3))).toBe('reused');
    expect(await usable()).toBe(0);

    familyId = newId();
    await save('a');
    expect(await again('a', 'b', NOW)).toBe('rotated');
    expect(await again('a', 'b', after(30))).toBe('reused');

    familyId = newId();
    await save('a');
    expect(await again('a', 'b', NOW)).toBe('rotated');
    expect(await again('a', 'another', after(1))).toBe('reused');
  });

  it('are traded once when presented many times at once, and then nothing of the family is left', async () => {
    await save('a');
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, index) => rotate('a', `next ${index}`)),
    );
    expect(outcomes.toSorted()).toEqual([...Array.from({ length: 9 }, () => 'reused'), 'rotated']);
    expect(await usable()).toBe(0);
  });

  it('leave no survivor when an old one comes back while the newest is traded', async () => {
    for (let round = 0; round < 10; round += 1) {
      familyId = newId();
      await save('a');
      await rotate('a', 'b');
      await Promise.all([rotate('b', 'c'), rotate('a', 'd')]);
      expect(await usable()).toBe(0);
    }
  });

  it('are forgotten when expired, so many at a time', async () => {
    await Promise.all(
      ['a', 'b', 'c'].map((token) => save(token, new Date(NOW.getTime() - 86_400_000))),
    );
    await save('d');
    const left = async () =>
      (await database.raw.query('SELECT 1 FROM refresh_tokens WHERE family_id = $1', [familyId]))
        .length;
    await database.refreshTokens.removeExpired(NOW, 2);
    expect(await left()).toBe(2);
    await database.refreshTokens.removeExpired(NOW, 2);
    await database.refreshTokens.removeExpired(NOW, 2);
    expect(await left()).toBe(1);
  });
});
