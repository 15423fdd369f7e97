import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';

let database: OpenedDatabase;
let ownerId: string;
let groupId: string;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

beforeEach(async () => {
  ownerId = await newUser();
  groupId = newId();
  await database.groups.create({ id: groupId, ownerId, name: 'Lab', description: '' });
});

async function newUser(): Promise<string> {
  const id = newId();
  await database.users.create({ id, email: `${id}@example.com`, name: '', passwordHash: 'hash' });
  return id;
}

async function fund(type: 'user' | 'group', id: string, balance: number): Promise<void> {
  await database.raw.query(
    'INSERT INTO ledger_accounts (owner_type, owner_id, balance) VALUES ($1, $2, $3)',
    [type, id, balance],
  );
}

interface AccountRow {
  readonly owner_type: string;
  readonly balance: string;
  readonly increases: string;
}

const accounts = (): Promise<AccountRow[]> =>
  database.raw.query<AccountRow>(
    `SELECT owner_type, balance, increases FROM ledger_accounts
     WHERE owner_id IN ($1, $2) ORDER BY owner_type`,
    [groupId, ownerId],
  );

const entries = () =>
  database.raw.query(
    `SELECT a.owner_type, e.delta, e.balance_after, e.kind, e.note, e.ref
     FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
     WHERE a.owner_id IN ($1, $2) ORDER BY e.id`,
    [groupId, ownerId],
  );

describe('groups in Postgres', () => {
  it('are seen with the role of the viewer', async () => {
    const adminId = await newUser();
    await database.members.save(groupId, adminId, { role: 'admin' });
    const roleOf = async (viewerId: string | null) =>
      (await database.groups.find(groupId, viewerId))?.viewerRole;
    expect(await roleOf(ownerId)).toBe('owner');
    expect(await roleOf(adminId)).toBe('admin');
    expect(await roleOf(await newUser())).toBeNull();
    expect(await roleOf(null)).toBeNull();
    await database.members.update(groupId, adminId, { isActive: false });
    expect(await roleOf(adminId)).toBeNull();
    expect(await database.groups.find(newId(), ownerId)).toBeUndefined();
  });

  it('take an id once, however many bring it at once', async () => {
    const id = newId();
    const made = await Promise.all(
      Array.from({ length: 10 }, () =>
        database.groups.create({ id, ownerId, name: 'once', description: '' }),
      ),
    );
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await database.groups.find(id, ownerId)).toMatchObject({ memberCount: 1 });
  });

  it('take no id of a deleted group that has left points or usage', async () => {
    const create = (id: string, owner: string) =>
      database.groups.create({ id, ownerId: owner, name: 'again', description: '' });
    const memberId = await newUser();
    const unused = newId();
    await create(unused, ownerId);
    await database.groups.delete(unused);
    expect(await create(unused, memberId)).toBe(true);
    await fund('group', groupId, 70);
    await database.groups.delete(groupId);
    await expect(create(groupId, memberId)).rejects.toMatchObject({ code: 'group_id_taken' });
    const metered = newId();
    await create(metered, ownerId);
    await database.usage.record([usageEvent({ user_id: ownerId, group_id: metered })], {
      pointsPerUsd: 100,
    });
    await database.groups.delete(metered);
    await expect(create(metered, memberId)).rejects.toMatchObject({ code: 'group_id_taken' });
    expect(await database.groups.find(metered, memberId)).toBeUndefined();
  });

  it('keep their new owner when the one before is erased while members are removed', async () => {
    await newUser();
    const adminId = await newUser();
    await database.members.save(groupId, adminId, { role: 'admin' });
    await Promise.all([
      database.userDirectory.erase(ownerId, undefined, new Date()),
      database.members.remove(groupId, adminId),
    ]);
    const group = await database.groups.find(groupId, null);
    const members = await database.members.list(groupId, { countMax: 10 });
    expect(members.map(({ userId }) => userId)).toContain(group?.ownerId);
    expect(group?.ownerId).not.toBe(ownerId);
    const owner = group?.ownerId ?? '';
    expect(await database.members.remove(groupId, owner)).toBe(false);
    expect(await database.members.update(groupId, owner, { isActive: false })).toBeUndefined();
  });

  it('refuse rules, members and invitations once they are deleted', async () => {
    await database.groups.delete(groupId);
    const userId = await newUser();
    expect(await database.modelRules.set(groupId, 'allow', ['a'])).toBe(false);
    expect(await database.members.save(groupId, userId, {})).toBeUndefined();
    expect(await database.members.remove(groupId, userId)).toBe(false);
    const invitation = {
      id: newId(),
      groupId,
      role: 'member',
      email: null,
      maxUses: 1,
      expiresAt: new Date(),
    } as const;
    const tokenHash = 'a'.repeat(64);
    expect(
      await database.invitations.create({ ...invitation, tokenHash, createdById: ownerId }),
    ).toBe(false);
    expect(await database.invitations.join({ ...invitation, uses: 0 }, userId)).toBe('gone');
  });
});

describe('deleting a group', () => {
  it('moves what is left in its pool to a wallet that is made for it', async () => {
    await fund('group', groupId, 70);
    await database.groups.delete(groupId);
    expect(await accounts()).toMatchObject([
      { owner_type: 'group', balance: '0' },
      { owner_type: 'user', balance: '70' },
    ]);
    const movement = { kind: 'refund', note: 'the group Lab was deleted', ref: groupId };
    expect(await entries()).toEqual([
      { owner_type: 'group', delta: '-70', balance_after: '0', ...movement },
      { owner_type: 'user', delta: '70', balance_after: '70', ...movement },
    ]);
    const movements = await database.raw.query(
      'SELECT DISTINCT movement_id FROM ledger_entries WHERE ref = $1',
      [groupId],
    );
    expect(movements).toHaveLength(1);
  });

  it('adds to the wallet that is there, which grows by that', async () => {
    await fund('group', groupId, 70);
    await fund('user', ownerId, 5);
    await database.groups.delete(groupId);
    expect(await accounts()).toMatchObject([{ balance: '0' }, { balance: '75', increases: '1' }]);
    expect((await entries()).at(-1)).toMatchObject({ delta: '70', balance_after: '75' });
  });

  it('writes no entry when there is no pool or nothing in it', async () => {
    await database.groups.delete(groupId);
    expect(await accounts()).toEqual([]);
    const another = newId();
    await database.groups.create({ id: another, ownerId, name: 'empty', description: '' });
    await fund('group', another, 0);
    await database.groups.delete(another);
    expect(await entries()).toEqual([]);
  });

  it('many times at once moves the points once', async () => {
    await fund('group', groupId, 70);
    await Promise.all(Array.from({ length: 5 }, () => database.groups.delete(groupId)));
    expect(await accounts()).toMatchObject([{ balance: '0' }, { balance: '70' }]);
    expect(await entries()).toHaveLength(2);
  });

  it('of several groups of one owner at once adds everything up', async () => {
    const ids = [groupId, newId(), newId()];
    for (const id of ids) {
      await database.groups.create({ id, ownerId, name: 'Lab', description: '' });
      await fund('group', id, 10);
    }
    await Promise.all(ids.map((id) => database.groups.delete(id)));
    const [wallet] = await database.raw.query(
      'SELECT balance FROM ledger_accounts WHERE owner_id = $1',
      [ownerId],
    );
    expect(wallet).toEqual({ balance: '30' });
  });

  it('moves nothing when the deletion is rolled back', async () => {
    await fund('group', groupId, 70);
    const attempt = database.transaction(async (stores) => {
      await stores.groups.delete(groupId);
      throw new Error('changed our mind');
    });
    await expect(attempt).rejects.toThrow('changed our mind');
    expect(await accounts()).toMatchObject([{ owner_type: 'group', balance: '70' }]);
    expect(await database.groups.find(groupId, ownerId)).toBeDefined();
  });

  it('while its members and invitations are read fails no reader', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = newId();
      await database.groups.create({ id, ownerId, name: 'short', description: '' });
      const tokenHash = newId().replaceAll('-', '').repeat(2);
      const invitation = {
        id: newId(),
        tokenHash,
        groupId: id,
        role: 'member',
        email: null,
      } as const;
      const expiresAt = new Date(Date.now() + 60_000);
      await database.invitations.create({
        ...invitation,
        maxUses: 1,
        expiresAt,
        createdById: ownerId,
      });
      const reading = Array.from({ length: 5 }, () => [
        database.members.list(id, { countMax: 10 }),
        database.members.find(id, `${ownerId}@example.com`),
        database.invitations.find(tokenHash, ownerId),
      ]);
      const done = await Promise.allSettled([...reading.flat(), database.groups.delete(id)]);
      expect(done.filter(({ status }) => status === 'rejected')).toEqual([]);
    }
  });

  it('while members come and go ends without a deadlock', async () => {
    const userIds = await Promise.all(Array.from({ length: 8 }, newUser));
    for (const userId of userIds) await database.members.save(groupId, userId, {});
    await database.raw.query(
      `INSERT INTO api_keys (user_id, group_id, name, key_hash, key_prefix, key_hint)
       SELECT user_id, group_id, 'k', md5(user_id::text) || md5(group_id::text), 'service-', 'h'
       FROM group_members WHERE group_id = $1`,
      [groupId],
    );
    await Promise.all([
      ...userIds.map((userId) => database.members.remove(groupId, userId)),
      database.groups.delete(groupId),
      ...userIds.map((userId) => database.members.save(groupId, userId, { role: 'admin' })),
    ]);
    expect(await database.groups.find(groupId, ownerId)).toBeUndefined();
  });
});

test('a token of an invitation lets in exactly as many as it has uses, also at once', async () => {
  const userIds = await Promise.all(Array.from({ length: 9 }, newUser));
  const tokenHash = newId().replaceAll('-', '').repeat(2);
  await database.invitations.create({
    id: newId(),
    tokenHash,
    groupId,
    role: 'member',
    email: null,
    maxUses: 3,
    expiresAt: new Date(Date.now() + 60_000),
    createdById: ownerId,
  });
  const found = await database.invitations.find(tokenHash, ownerId);
  if (found === undefined) throw new Error('the invitation was not kept');
  expect(found.membership).toBe('active');
  const { invitation } = found;
  const outcomes = await Promise.all(
    userIds.map((userId) => database.invitations.join(invitation, userId)),
  );
  expect(outcomes.toSorted()).toEqual([
    ...Array.from({ length: 3 }, () => 'joined'),
    ...Array.from({ length: 6 }, () => 'used up'),
  ]);
  expect(await database.members.list(groupId, { countMax: 10 })).toHaveLength(4);
});

test('no key of a group is left over when its member is removed or the group deleted meanwhile', async () => {
  const keyOf = (userId: string) => ({
    id: newId(),
    userId,
    groupId,
    name: 'late',
    keyHash: newId().replaceAll('-', '').repeat(2),
    keyPrefix: 'service-',
    keyHint: '',
    project: 'default',
  });
  const memberIds = await Promise.all(Array.from({ length: 10 }, newUser));
  for (const userId of memberIds) await database.members.save(groupId, userId, {});
  const created = await Promise.allSettled(
    memberIds.flatMap((userId) => [
      database.keys.create(keyOf(userId), 10),
      database.members.remove(groupId, userId),
    ]),
  );
  const left = await Promise.all(
    memberIds.map((userId) => database.keys.list(userId, 10, new Date())),
  );
  expect(left.flat().filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
  const late = await Promise.allSettled([
    ...Array.from({ length: 10 }, () => database.keys.create(keyOf(ownerId), 20)),
    database.groups.delete(groupId),
  ]);
  const refused = [...created, ...late].filter(({ status }) => status === 'rejected');
  const groupNotFound = { reason: { code: 'not_found', message: 'group not found' } };
  expect(refused).toMatchObject(refused.map(() => groupNotFound));
  const kept = await database.keys.list(ownerId, 20, new Date());
  expect(kept.every((key) => key.groupId === null && key.active)).toBe(true);
});
