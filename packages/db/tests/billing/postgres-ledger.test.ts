import { newId } from '@model-gateway/kernel';
import { fullSize } from '../config.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';

/** How many movements are asked for at the same time. */
const AT_ONCE = fullSize(40, { small: 16 });

let database: OpenedDatabase;
let groupId: string;
let owner: Person;
let member: Person;

interface Person {
  readonly id: string;
  readonly email: string;
}

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

beforeEach(async () => {
  owner = await newPerson();
  member = await newPerson();
  groupId = newId();
  await database.groups.create({ id: groupId, ownerId: owner.id, name: 'Lab', description: '' });
  await database.members.save(groupId, member.id, {});
});

async function newPerson(): Promise<Person> {
  const id = newId();
  const email = `${id}@example.com`;
  await database.users.create({ id, email, name: '', passwordHash: 'hash' });
  return { id, email };
}

const pool = () => database.ledger.read({ type: 'group', id: groupId });
const wallet = ({ id }: Person = member) => database.ledger.read({ type: 'user', id });
const topUp = (points: number, idempotencyKey?: string) =>
  database.ledger.topUp({ groupId, points, idempotencyKey });
const allocate = (points: number, idempotencyKey?: string, { email }: Person = member) =>
  database.ledger.allocate({ groupId, email, points, idempotencyKey });

const refusal = (message: string) => ({ code: 'movement_refused', message });

const accountCount = async (): Promise<unknown> =>
  (await database.raw.query('SELECT count(*) AS n FROM ledger_accounts'))[0]?.['n'];

async function together<Result>(count: number, work: (index: number) => Promise<Result>) {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, i) => work(i)));
  const done = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value] : [],
  );
  const refused = outcomes.flatMap((outcome): unknown[] =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  );
  return { done, refused };
}

describe('reading', () => {
  it('of a missing account finds it empty, and creates nothing', async () => {
    const before = await accountCount();
    expect(await pool()).toEqual({ balance: 0, entries: [] });
    expect(await wallet()).toEqual({ balance: 0, entries: [] });
    expect(await accountCount()).toEqual(before);
  });

  it('shows the newest 50 entries, newest first', async () => {
    for (let points = 1; points <= 52; points += 1) await topUp(points);
    const { balance, entries } = await pool();
    expect(balance).toBe((52 * 53) / 2);
    expect(entries.map(({ delta }) => delta)).toEqual(
      Array.from({ length: 50 }, (_, index) => 52 - index),
    );
    expect(entries[0]).toMatchObject({ balanceAfter: balance, createdAt: expect.any(Date) });
  });
});

describe('topping up', () => {
  it('adds up, and leaves an entry with its note', async () => {
    expect(await topUp(70)).toEqual({ balance: 70 });
    expect(await database.ledger.topUp({ groupId, points: 5, note: 'May' })).toEqual({
      balance: 75,
    });
    expect((await pool()).entries).toMatchObject([
      { delta: 5, balanceAfter: 75, kind: 'topup', note: 'May', ref: null },
      { delta: 70, balanceAfter: 70, kind: 'topup', note: null, ref: null },
    ]);
  });

  it('many times at once loses nothing', async () => {
    await together(AT_ONCE, () => topUp(3));
    const { balance, entries } = await pool();
    expect(balance).toBe(3 * AT_ONCE);
    const after = entries.map(({ balanceAfter }) => balanceAfter);
    expect(after).toEqual(Array.from({ length: AT_ONCE }, (_, index) => 3 * (AT_ONCE - index)));
  });

  it('with the same key moves points once, also at once, and answers the same', async () => {
    const { done } = await together(AT_ONCE / 2, () => topUp(10, 'same'));
    expect(done).toEqual(Array.from({ length: AT_ONCE / 2 }, () => ({ balance: 10 })));
    await topUp(1);
    expect(await topUp(10, 'same')).toEqual({ balance: 10 });
    expect((await pool()).balance).toBe(11);
  });

  it('with a key that stands for another movement is refused', async () => {
    await topUp(10, 'k');
    await expect(topUp(11, 'k')).rejects.toMatchObject(
      refusal('the idempotency_key was used for another movement'),
    );
    expect((await pool()).balance).toBe(10);
  });

  it('lifts the refusals of an account, and makes its state a newer one', async () => {
    await topUp(1);
    await database.raw.query(
      `INSERT INTO account_refusals (user_id, account_id, month, increases)
       SELECT gen_random_uuid(), id, now(), increases FROM ledger_accounts WHERE owner_id = $1`,
      [groupId],
    );
    const before = await database.billingFacts.account({ type: 'group', id: groupId });
    await topUp(1);
    const after = await database.billingFacts.account({ type: 'group', id: groupId });
    expect(after).toMatchObject({ balance: 2, hasHistory: true, increases: before.increases + 1 });
    expect(after.version).toBeGreaterThan(before.version);
    expect(await database.raw.query('SELECT * FROM account_refusals')).toEqual([]);
  });

  it('stops where a balance would not be exact any more', async () => {
    await topUp(Number.MAX_SAFE_INTEGER - 1);
    await expect(topUp(2)).rejects.toMatchObject(refusal('the pool cannot hold so many points'));
    expect(await topUp(1)).toEqual({ balance: Number.MAX_SAFE_INTEGER });
  });

  it('of a group that is being deleted loses no points', async () => {
    await topUp(5);
    const [{ done, refused }] = await Promise.all([
      together(10, () => topUp(10)),
      database.groups.delete(groupId),
    ]);
    expect(done.length + refused.length).toBe(10);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'not_found' });
    expect((await pool()).balance).toBe(0);
    expect((await wallet(owner)).balance).toBe(5 + 10 * done.length);
  });
});

describe('allocating', () => {
  it('moves points in one movement with two entries', async () => {
    await topUp(100);
    const allocation = { groupId, email: member.email, points: 30, note: 'for you' };
    expect(await database.ledger.allocate(allocation)).toEqual({
      balance: 70,
      walletBalance: 30,
      userId: member.id,
    });
    const common = { kind: 'allocate', note: 'for you' };
    expect((await pool()).entries[0]).toMatchObject({
      ...common,
      delta: -30,
      balanceAfter: 70,
      ref: member.id,
    });
    expect(await wallet()).toMatchObject({
      balance: 30,
      entries: [{ ...common, delta: 30, balanceAfter: 30, ref: groupId }],
    });
    const movements = await database.raw.query(
      `SELECT movement_id FROM ledger_entries WHERE note = 'for you' GROUP BY 1`,
    );
    expect(movements).toHaveLength(1);
  });

  it('what the pool does not hold is refused whole, and opens no wallet', async () => {
    await expect(allocate(1)).rejects.toMatchObject(
      refusal('the pool does not hold so many points'),
    );
    await topUp(9);
    const before = await accountCount();
    await expect(allocate(10)).rejects.toMatchObject({ code: 'movement_refused' });
    expect([(await pool()).balance, (await wallet()).balance]).toEqual([9, 0]);
    expect(await accountCount()).toEqual(before);
    expect(await allocate(9)).toMatchObject({ balance: 0, walletBalance: 9 });
  });

  it('many times 10 at once from a pool of 105 moves exactly ten times 10', async () => {
    await topUp(105);
    const { done, refused } = await together(AT_ONCE, () => allocate(10));
    expect(done).toHaveLength(10);
    expect(done.map(({ balance }) => balance).toSorted((a, b) => b - a)).toEqual([
      95, 85, 75, 65, 55, 45, 35, 25, 15, 5,
    ]);
    for (const { balance, walletBalance } of done) expect(balance + walletBalance).toBe(105);
    for (const reason of refused) expect(reason).toMatchObject({ code: 'movement_refused' });
    expect([(await pool()).balance, (await wallet()).balance]).toEqual([5, 100]);
  });

  it('with the same key moves points once, also at once, and answers the same', async () => {
    await topUp(100);
    const { done, refused } = await together(AT_ONCE / 2, () => allocate(40, 'same'));
    expect(refused).toEqual([]);
    const first = { balance: 60, walletBalance: 40, userId: member.id };
    expect(done).toEqual(Array.from({ length: AT_ONCE / 2 }, () => first));
    // Also when it could not be done again.
    await allocate(60);
    await database.members.update(groupId, member.id, { isActive: false });
    expect(await allocate(40, 'same')).toEqual(first);
  });

  it('with a key that stands for another movement is refused', async () => {
    await topUp(100);
    await allocate(10, 'k');
    const used = refusal('the idempotency_key was used for another movement');
    await expect(allocate(11, 'k')).rejects.toMatchObject(used);
    await expect(allocate(10, 'k', owner)).rejects.toMatchObject(used);
    expect((await pool()).balance).toBe(90);
  });

  it('a key counts within its group and its kind of movement', async () => {
    await topUp(100, 'k');
    expect(await allocate(10, 'k')).toMatchObject({ balance: 90, walletBalance: 10 });
    const other = newId();
    await database.groups.create({ id: other, ownerId: owner.id, name: 'x', description: '' });
    const elsewhere = { groupId: other, points: 7, idempotencyKey: 'k' };
    expect(await database.ledger.topUp(elsewhere)).toEqual({ balance: 7 });
  });

  it('to a user who is not an active member is refused', async () => {
    await topUp(10);
    const stranger = await newPerson();
    const nobody = { id: '', email: 'nobody@example.com' };
    for (const person of [stranger, nobody]) {
      await expect(allocate(1, undefined, person)).rejects.toMatchObject({
        code: 'not_found',
        message: 'member not found',
      });
    }
    await database.members.update(groupId, member.id, { isActive: false });
    await expect(allocate(1)).rejects.toMatchObject(refusal('the member is deactivated'));
    expect((await pool()).balance).toBe(10);
  });

  it('back and forth between the same people ends without a deadlock, and adds up', async () => {
    const groups = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => {
        const id = newId();
        const ownerId = index % 2 === 0 ? owner.id : member.id;
        await database.groups.create({ id, ownerId, name: 'g', description: '' });
        await database.members.save(id, owner.id, { role: 'admin' });
        await database.members.save(id, member.id, { role: 'admin' });
        await database.ledger.topUp({ groupId: id, points: 100 });
        return id;
      }),
    );
    const { refused } = await together(AT_ONCE, (index) =>
      database.ledger.allocate({
        groupId: groups[index % 4] ?? groupId,
        email: (index % 3 === 0 ? owner : member).email,
        points: 1,
      }),
    );
    expect(refused).toEqual([]);
    await Promise.all(groups.map((id) => database.groups.delete(id)));
    expect((await wallet(owner)).balance + (await wallet()).balance).toBe(400);
  });
});

test('every balance is what its entries add up to, and none is below zero', async () => {
  const wrong = await database.raw.query(
    `SELECT a.owner_type FROM ledger_accounts a LEFT JOIN ledger_entries e ON e.account_id = a.id
     GROUP BY a.id HAVING a.balance <> COALESCE(sum(e.delta), 0) OR min(e.balance_after) < 0`,
  );
  expect(wrong).toEqual([]);
});
