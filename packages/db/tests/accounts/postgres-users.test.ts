import { newId } from '@model-gateway/kernel';
import { fullSize } from '../config.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

const FIRST_ACCOUNTS = fullSize(50, { small: 15 });

const newUser = (email = `${newId()}@example.com`) => ({
  id: newId(),
  email,
  name: 'Ada',
  passwordHash: 'hash',
});

describe('users in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterEach(() => database.raw.query('DELETE FROM users'));
  afterAll(() => database.close());

  it('make exactly one of many first accounts the admin, and no later one', async () => {
    const created = await Promise.all(
      Array.from({ length: FIRST_ACCOUNTS }, () => database.users.create(newUser())),
    );
    expect(created.filter((user) => user.isAdmin)).toHaveLength(1);
    expect((await database.users.create(newUser())).isAdmin).toBe(false);
  });

  it('give an email to one account, however many ask at once', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, () => database.users.create(newUser('one@example.com'))),
    );
    const refused = attempts.flatMap((attempt) =>
      attempt.status === 'rejected' ? [attempt.reason as unknown] : [],
    );
    expect(refused).toHaveLength(9);
    for (const reason of refused) {
      expect(reason).toMatchObject({ code: 'email_taken', message: 'email already registered' });
    }
  });

  it('are found by id and by email', async () => {
    const user = newUser();
    await database.users.create(user);
    const expected = { id: user.id, email: user.email, name: 'Ada', isAdmin: true };
    expect(await database.users.findById(user.id)).toEqual(expected);
    expect(await database.users.findByEmail(user.email)).toEqual({
      user: expected,
      passwordHash: 'hash',
    });
    expect(await database.users.findById(newId())).toBeUndefined();
    expect(await database.users.findByEmail('nobody@example.com')).toBeUndefined();
  });

  it('know the oldest admin, once there is one', async () => {
    expect(await database.users.findOldestAdmin()).toBeUndefined();
    const first = await database.users.create(newUser());
    const later = await database.users.create(newUser());
    await database.raw.query('UPDATE users SET is_admin = true WHERE id = $1', [later.id]);
    expect(await database.users.findOldestAdmin()).toEqual(first);
  });
});
