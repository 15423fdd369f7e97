import { newId, silentLog } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { createDatabase, type Database } from '../../src/database.ts';

const MAX = 3;
const AT_ONCE = 5;

let database: OpenedDatabase;
/** Another process. */
let peer: Database;
let userId: string;
let groupId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  peer = createDatabase({ databaseUrl: database.raw.url, log: silentLog });
});
afterAll(async () => {
  await peer.close();
  await database.close();
});
beforeEach(async () => {
  userId = newId();
  groupId = newId();
  const email = `${userId}@example.com`;
  await database.users.create({ id: userId, email, name: '', passwordHash: 'hash' });
  await database.groups.create({ id: groupId, ownerId: userId, name: 'Lab', description: '' });
});

const newGroup = () => ({ id: newId(), ownerId: userId, name: 'g', description: '' });
const newInvitation = (expiresAt = new Date(Date.now() + 60_000)) => ({
  id: newId(),
  groupId,
  role: 'member' as const,
  email: null,
  maxUses: 1,
  expiresAt,
  tokenHash: newId().replaceAll('-', '').padEnd(64, '0'),
  createdById: userId,
});

const countOf = async (table: string, column: string, id: string): Promise<number> => {
  const sql = `SELECT count(*)::int AS count FROM ${table} WHERE ${column} = $1`;
  const [row] = await database.raw.query<{ count: number }>(sql, [id]);
  return row?.count ?? 0;
};

/** What can be created only so often, and how many of it there are before. */
const MAXIMA: Readonly<
  Record<
    string,
    {
      readonly create: (stores: Database) => Promise<unknown>;
      readonly count: () => Promise<number>;
      readonly message: string;
    }
  >
> = {
  'groups that a user owns': {
    create: ({ groups }) => groups.create(newGroup(), MAX),
    count: () => countOf('groups', 'owner_id', userId),
    message: `too many groups: a user owns at most ${MAX}. Delete one first.`,
  },
  'open invitations of a group': {
    create: ({ invitations }) => invitations.create(newInvitation(), MAX),
    count: () => countOf('group_invitations', 'group_id', groupId),
    message: `too many open invitations: at most ${MAX} per group. Wait until some are used or have expired.`,
  },
  'conversations of a user': {
    create: ({ conversations }) => conversations.create({ id: newId(), userId, title: 't' }, MAX),
    count: () => countOf('conversations', 'user_id', userId),
    message: `too many conversations: at most ${MAX} per user. Delete one first.`,
  },
  'model rules of a group': {
    create: ({ modelRules }) => modelRules.set(groupId, 'allow', [newId()], MAX),
    count: () => countOf('group_model_rules', 'group_id', groupId),
    message: `too many model rules: at most ${MAX} per group`,
  },
};

test.each(Object.entries(MAXIMA))(
  'there are at most so many %s, also of calls at once in two processes',
  async (_what, { create, count, message }) => {
    const calls = [database, peer].flatMap((stores) =>
      Array.from({ length: AT_ONCE }, () => create(stores)),
    );
    const refusals = (await Promise.allSettled(calls)).filter((one) => one.status === 'rejected');
    expect(await count()).toBe(MAX);
    expect(new Set(refusals.map(({ reason }) => (reason as Error).message))).toEqual(
      new Set([message]),
    );
    await expect(create(database)).rejects.toMatchObject({ code: 'rate_limit_exceeded', message });
  },
);

test('a group that exists can be created again with its id by an owner of as many as allowed', async () => {
  const group = newGroup();
  await database.groups.create(group, 2);
  expect(await database.groups.create(group, 2)).toBe(false);
});

test('invitations that have expired do not count, and only the newest of them are kept', async () => {
  const expired = new Date(Date.now() - 1_000);
  await database.raw.query(
    `INSERT INTO group_invitations (group_id, token_hash, expires_at)
     SELECT $1, lpad(i::text, 64, '0'), now() - interval '1 second' FROM generate_series(1, 1005) i`,
    [groupId],
  );
  await database.invitations.create(newInvitation(expired), MAX);
  await database.invitations.create(newInvitation(), MAX);
  expect(await countOf('group_invitations', 'group_id', groupId)).toBe(1_001);
});
