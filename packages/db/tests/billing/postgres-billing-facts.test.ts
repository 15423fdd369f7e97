import type { AdmissionFacts } from '@model-gateway/billing';
import { newId } from '@model-gateway/kernel';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';

describe('billing facts in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  async function changedSince(time: Date) {
    const windows: AdmissionFacts['windows'][number][] = [];
    const accounts: AdmissionFacts['accounts'][number][] = [];
    let pages = 0;
    for await (const facts of database.billingFacts.changedSince(time)) {
      windows.push(...facts.windows);
      accounts.push(...facts.accounts);
      pages += 1;
    }
    return { windows, accounts, pages };
  }

  const databaseTime = async () => {
    const [row] = await database.raw.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return row?.now ?? new Date(Number.NaN);
  };

  it('are zeros for a window without rows and for a missing account', async () => {
    const userId = newId();
    expect(await database.billingFacts.window({ userId, month: '2026-03' })).toMatchObject({
      costUsd: 0,
      tokens: 0,
      version: 0,
    });
    expect(await database.billingFacts.account({ type: 'group', id: userId })).toMatchObject({
      balance: 0,
      hasHistory: false,
      increases: 0,
      version: 0,
    });
  });

  it('have the free tier for a user without one and for a deleted user', async () => {
    const userId = newId();
    const free = { name: 'free', monthlyUsdQuota: 1, monthlyTokenQuota: 100_000, rpm: 10 };
    expect(await database.billingFacts.tierOf(userId)).toEqual(free);
    await database.users.create({
      id: userId,
      email: `${userId}@example.com`,
      name: '',
      passwordHash: '',
      becomesAdmin: 'always',
    });
    expect(await database.billingFacts.tierOf(userId)).toEqual(free);
    const user = { email: `${userId}@example.com`, isAdmin: true };
    expect(await database.billingFacts.payingUser(userId)).toEqual(user);
    expect(await database.billingFacts.payingUser(newId())).toBeUndefined();
  });

  it('know what changed: the window of each user once, and accounts', async () => {
    const [userId, groupId] = [newId(), newId()];
    await database.usage.record([usageEvent({ user_id: userId, project: 'before' })], {
      pointsPerUsd: 100,
    });
    const since = await databaseTime();
    const created_at = since.toISOString();
    const month = created_at.slice(0, 7);
    await database.usage.record(
      [
        usageEvent({ user_id: userId, created_at, project: 'shop' }),
        usageEvent({ user_id: userId, created_at }),
        usageEvent({ user_id: userId, created_at, key_id: null, project: null }),
      ],
      { pointsPerUsd: 100 },
    );
    await database.raw.query(
      `INSERT INTO ledger_accounts (owner_type, owner_id, balance) VALUES ('group', $1, 5)`,
      [groupId],
    );
    const changed = await changedSince(since);
    expect(changed.windows).toEqual([{ userId, month, costUsd: 0.75, tokens: 21, version: 3 }]);
    expect(changed.accounts).toEqual([
      { type: 'group', id: groupId, balance: 5, hasHistory: true, increases: 0, version: 1 },
    ]);
    expect(await changedSince(await databaseTime())).toEqual({
      windows: [],
      accounts: [],
      pages: 0,
    });
  });

  it('come in pages, nothing left out, also where many changed at the same instant', async () => {
    const since = await databaseTime();
    await database.raw.query(
      `INSERT INTO quota_usage (user_id, month, requests, tier_cost, tier_tokens, updated_at)
       SELECT gen_random_uuid(), date_trunc('month', now() AT TIME ZONE 'UTC'), 1, 0, 0, now()
       FROM generate_series(1, 2300)`,
    );
    await database.raw.query(
      `INSERT INTO ledger_accounts (owner_type, owner_id, balance)
       SELECT 'user', gen_random_uuid(), 1 FROM generate_series(1, 1000)`,
    );
    const changed = await changedSince(since);
    expect(new Set(changed.windows.map(({ userId }) => userId)).size).toBe(2300);
    expect(new Set(changed.accounts.map(({ id }) => id)).size).toBe(1000);
    expect(changed).toMatchObject({
      pages: 4,
      windows: { length: 2300 },
      accounts: { length: 1000 },
    });
  });
});
