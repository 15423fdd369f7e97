import { setTimeout as delay } from 'node:timers/promises';
import type { UsageEvent } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import { Client } from 'pg';
import { fullSize } from '../config.ts';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { usageEvent } from '../usage-event.ts';

const POLL_MS = 10;
/** The settlements that wait for another. */
const WAITING = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const ACCOUNTS = fullSize(64, { small: 16 });

interface Holder {
  readonly id: string;
  readonly type: 'user' | 'group';
}

describe('settlement in Postgres', () => {
  let database: OpenedDatabase;

  beforeAll(async () => {
    database = await openTestDatabase();
  });

  afterAll(() => database.close());

  const record = (...events: readonly UsageEvent[]) =>
    database.usage.record(events, { pointsPerUsd: 100 });

  /** Puts points into an account, with the entry that says so. */
  async function fund({ id, type }: Holder, points: number): Promise<void> {
    await database.raw.query(
      `WITH account AS (
         INSERT INTO ledger_accounts AS held (owner_type, owner_id, balance) VALUES ($1, $2, $3)
         ON CONFLICT (owner_type, owner_id) DO UPDATE SET balance = held.balance + EXCLUDED.balance
         RETURNING id, balance
       )
       INSERT INTO ledger_entries (account_id, delta, balance_after, kind)
       SELECT id, $3, balance, 'topup' FROM account`,
      [type, id, points],
    );
  }

  async function newWallet(points: number): Promise<string> {
    const id = newId();
    await fund({ id, type: 'user' }, points);
    return id;
  }

  const rowsOf = (userId: string) =>
    database.raw.query<{ points: number | null; account_type: string | null }>(
      'SELECT points, account_type FROM usage_records WHERE user_id = $1 ORDER BY created_at, id',
      [userId],
    );

  const accountOf = (id: string, type: Holder['type'] = 'user') =>
    database.billingFacts.account({ type, id });

  const entriesOf = (id: string) =>
    database.raw.query(
      `SELECT kind, delta::int, balance_after::int, ref FROM ledger_entries
       WHERE account_id = (SELECT id FROM ledger_accounts WHERE owner_id = $1) ORDER BY id`,
      [id],
    );

  const windowOf = (userId: string, month = '2026-03') =>
    database.billingFacts.window({ userId, month });

  /** Uses the free tier up. */
  const drain = (userId: string, values: Partial<UsageEvent> = {}) =>
    record(usageEvent({ user_id: userId, cost: null, total_tokens: 100_000, ...values }));

  it('takes points, with an entry for the row, and leaves the tier alone', async () => {
    const userId = await newWallet(100);
    const event = usageEvent({ user_id: userId, cost: 0.25 });
    const { added, facts } = await record(event);
    expect(added).toBe(1);
    expect(await rowsOf(userId)).toEqual([{ points: 25, account_type: 'user' }]);
    expect(await entriesOf(userId)).toEqual([
      { kind: 'topup', delta: 100, balance_after: 100, ref: null },
      { kind: 'usage', delta: -25, balance_after: 75, ref: event.id },
    ]);
    expect(facts).toEqual({
      budgets: [],
      windows: [{ userId, month: '2026-03', costUsd: 0, tokens: 0, version: 1 }],
      accounts: [
        { type: 'user', id: userId, balance: 75, hasHistory: true, increases: 0, version: 2 },
      ],
    });
  });

  it.each([
    { why: 'without a price', of: { cost: null }, points: null, balance: 100 },
    { why: 'that cost nothing', of: { cost: 0 }, points: null, balance: 100 },
    { why: 'below half a point', of: { cost: 0.0049 }, points: null, balance: 100 },
    { why: 'with a multiplier of 0', of: { cost: 0.2, multiplier: 0 }, points: null, balance: 100 },
    {
      why: 'with a multiplier of 1.5',
      of: { cost: 0.2, multiplier: 1.5 },
      points: 30,
      balance: 70,
    },
  ])('of a request $why takes $points points', async ({ of, points, balance }) => {
    const userId = await newWallet(100);
    await record(usageEvent({ user_id: userId, ...of }));
    expect(await rowsOf(userId)).toEqual([
      { points, account_type: points === null ? null : 'user' },
    ]);
    expect(await accountOf(userId)).toMatchObject({ balance, increases: 0 });
    const tierCost = points === null ? (of.cost ?? 0) : 0;
    expect(await windowOf(userId)).toEqual({
      userId,
      month: '2026-03',
      costUsd: tierCost,
      tokens: points === null ? 7 : 0,
      version: 1,
    });
  });

  it('leaves a pool that is short by one point as it is, and counts the request on the tier of its user', async () => {
    const userId = newId();
    const group = { id: newId(), type: 'group' } as const;
    await fund(group, 24);
    const spend = () => record(usageEvent({ user_id: userId, group_id: group.id, cost: 0.25 }));
    await spend();
    expect(await rowsOf(userId)).toEqual([{ points: null, account_type: null }]);
    expect(await accountOf(group.id, 'group')).toMatchObject({ balance: 24, increases: 0 });
    expect(await windowOf(userId)).toMatchObject({ costUsd: 0.25, tokens: 7 });
    await fund(group, 1);
    await spend();
    expect(await accountOf(group.id, 'group')).toMatchObject({ balance: 0 });
    expect(await windowOf(userId)).toMatchObject({ costUsd: 0.25, tokens: 7, version: 2 });
  });

  it('counts a request in the month in which it was completed, however late it is recorded', async () => {
    const userId = newId();
    const at = (created_at: string) => usageEvent({ user_id: userId, cost: 0.5, created_at });
    await record(at('2026-04-01T00:00:00.000Z'), at('2026-03-31T23:59:59.999Z'));
    await record(at('2026-03-31T12:00:00.000Z'));
    expect(await windowOf(userId, '2026-03')).toMatchObject({ costUsd: 1, version: 2 });
    expect(await windowOf(userId, '2026-04')).toMatchObject({ costUsd: 0.5, version: 1 });
    // March is drained and April is not: the same tiny request takes a point in one of them alone.
    await fund({ id: userId, type: 'user' }, 10);
    const tiny = (created_at: string) => usageEvent({ user_id: userId, cost: 0.0001, created_at });
    await record(tiny('2026-03-31T23:59:59.998Z'), tiny('2026-04-01T00:00:00.001Z'));
    expect((await rowsOf(userId)).map(({ points }) => points)).toEqual([null, 1, null, null, null]);
  });

  it('counts on a drained tier what an account without history cannot pay, and opens no account for it', async () => {
    const userId = newId();
    await drain(userId);
    const { facts } = await record(usageEvent({ user_id: userId, cost: 0.5 }));
    expect(facts.accounts).toEqual([
      { type: 'user', id: userId, balance: 0, hasHistory: false, increases: 0, version: 0 },
    ]);
    expect(await windowOf(userId)).toMatchObject({ costUsd: 0.5, tokens: 100_007 });
    expect(await entriesOf(userId)).toEqual([]);
  });

  it('knows the history of an account that is empty', async () => {
    const userId = await newWallet(10);
    await record(usageEvent({ user_id: userId, cost: 0.1 }));
    await drain(userId);
    expect(await accountOf(userId)).toMatchObject({ balance: 0, hasHistory: true });
  });

  it('refuses the member whose request a pool could not cover on a drained tier, until the pool grows', async () => {
    const pool = { id: newId(), type: 'group' } as const;
    const [userId, otherId] = [newId(), newId()];
    await fund(pool, 3);
    await drain(userId);
    await drain(otherId);
    const spend = (user_id: string, cost: number) =>
      record(usageEvent({ user_id, group_id: pool.id, cost }));
    const refusals = [{ account: { type: 'group', id: pool.id }, increases: 0 }];
    const { facts } = await spend(userId, 0.04);
    expect(facts.windows).toMatchObject([{ userId, version: 2, refusals }]);
    expect(facts.accounts).toMatchObject([{ balance: 3, version: 1 }]);
    await spend(otherId, 0.02);
    expect(await accountOf(pool.id, 'group')).toMatchObject({ balance: 1 });
    expect(await windowOf(otherId)).not.toHaveProperty('refusals');
    expect(await windowOf(userId, '2026-04')).not.toHaveProperty('refusals');
    // What the pool covers it still pays; that is not growth.
    await spend(userId, 0.0001);
    expect(await accountOf(pool.id, 'group')).toMatchObject({ balance: 0, increases: 0 });
    expect(await windowOf(userId)).toMatchObject({ refusals });
    await fund(pool, 1);
    expect(await accountOf(pool.id, 'group')).toMatchObject({ balance: 1, increases: 1 });
    expect(await windowOf(userId)).not.toHaveProperty('refusals');
  });

  it('keeps of the refusals of a member by an account that of the latest month', async () => {
    const userId = await newWallet(3);
    const months = ['2026-04', '2026-03'];
    const large = months.map((month) =>
      usageEvent({ user_id: userId, cost: 5, created_at: `${month}-04T00:00:00.000Z` }),
    );
    const of = async (month: string) => (await windowOf(userId, month)).refusals?.length ?? 0;
    // The first of each month drains its tier.
    for (const month of months) await drain(userId, { created_at: `${month}-01T00:00:00.000Z` });
    await record(...large);
    expect([await of('2026-03'), await of('2026-04')]).toEqual([0, 1]);
    await record(usageEvent({ user_id: userId, cost: 5 }));
    expect([await of('2026-03'), await of('2026-04')]).toEqual([0, 1]);
  });

  it('counts every project label in the window of the whole user', async () => {
    const userId = await newWallet(10);
    const shop = { user_id: userId, project: 'shop' };
    await drain(userId, shop);
    await record(usageEvent({ ...shop, cost: 0.0001 }));
    await record(usageEvent({ user_id: userId, project: 'other', cost: 0.0001 }));
    await record(usageEvent({ user_id: userId, cost: 0.0001 }));
    expect(await accountOf(userId)).toMatchObject({ balance: 7 });
    expect(await windowOf(userId)).toMatchObject({ tokens: 100_000, version: 4 });
  });

  it('goes by the tier that the user is on', async () => {
    const userId = await newWallet(10);
    await database.raw.query(
      `INSERT INTO users (id, email, password_hash, tier) VALUES ($1, $2, '', 'enterprise')`,
      [userId, `${userId}@example.com`],
    );
    await drain(userId);
    await record(usageEvent({ user_id: userId, cost: 0.0001 }));
    expect(await accountOf(userId)).toMatchObject({ balance: 10 });
    expect(await database.billingFacts.tierOf(userId)).toEqual({
      name: 'enterprise',
      monthlyUsdQuota: null,
      monthlyTokenQuota: null,
      rpm: 1000,
    });
  });

  it('charges a batch once, when it is delivered twice or handed to two recorders at the same time', async () => {
    const userId = await newWallet(1000);
    const events = Array.from({ length: 50 }, () => usageEvent({ user_id: userId, cost: 0.1 }));
    const answers = await Promise.all([record(...events), record(...events.toReversed())]);
    expect(new Set(answers.map(({ added }) => added))).toEqual(new Set([0, 50]));
    const again = await record(...events, ...events);
    expect(again.added).toBe(0);
    expect(again.facts.accounts).toMatchObject([{ balance: 500 }]);
    expect(await entriesOf(userId)).toHaveLength(51);
    expect(await windowOf(userId)).toMatchObject({ costUsd: 0, tokens: 0, version: 50 });
  });

  it('waits for another settlement', async () => {
    const userId = newId();
    const held = await connect(database.raw.url);
    await held.query('BEGIN; SELECT pg_advisory_xact_lock(72707370)');
    const waiting = record(usageEvent({ user_id: userId }));
    while ((await database.raw.query(WAITING)).length === 0) await delay(POLL_MS);
    expect(await windowOf(userId)).toMatchObject({ version: 0 });
    await held.query('COMMIT');
    await waiting;
    expect(await windowOf(userId)).toMatchObject({ version: 1 });
    await held.end();
  });

  it('goes on when a recorder vanishes in the middle of a settlement', async () => {
    const userId = await newWallet(100);
    const gone = await connect(database.raw.url);
    await gone.query('BEGIN; SELECT pg_advisory_xact_lock(72707370)');
    await gone.query(`UPDATE ledger_accounts SET balance = 0 WHERE owner_id = $1`, [userId]);
    const [connection] = (await gone.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
    const waiting = record(usageEvent({ user_id: userId, cost: 0.25 }));
    while ((await database.raw.query(WAITING)).length === 0) await delay(POLL_MS);
    gone.on('error', () => undefined);
    await database.raw.query('SELECT pg_terminate_backend($1)', [connection?.pid]);
    await waiting;
    expect(await accountOf(userId)).toMatchObject({ balance: 75 });
  });

  it('conserves the points of many accounts that are interleaved in batches, recorders and top-ups', async () => {
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => newWallet(100)));
    const events = accounts.flatMap((user_id, index) =>
      Array.from({ length: 12 }, (_, turn) =>
        usageEvent({ user_id, cost: ((index + turn * 7) % 31) / 100, created_at: at(turn) }),
      ),
    );
    const shuffled = events.toSorted((one, other) =>
      one.id.slice(-6) < other.id.slice(-6) ? -1 : 1,
    );
    const batches = Array.from({ length: 16 }, (_, batch) =>
      shuffled.filter((_event, index) => index % 16 === batch),
    );
    let added = 0;
    // As many at once as there are connections: a call that waits long for one is refused.
    const recorders = [batches, batches.toReversed(), batches.slice(0, 8), batches.slice(8)].map(
      async (own) => {
        for (const batch of own) {
          const answer = await record(...batch);
          added += answer.added;
        }
      },
    );
    const topUps = [0, 1, 2].map(async (lane) => {
      for (const id of accounts.filter((_id, index) => index % 3 === lane))
        await fund({ id, type: 'user' }, 7);
    });
    await Promise.all([...recorders, ...topUps]);
    expect(added).toBe(ACCOUNTS * 12);
    const sums = await database.raw.query<{ rows: number; wrong: number; least: number }>(
      `SELECT sum(used.rows)::int AS rows, min(account.balance)::int AS least,
         count(*) FILTER (WHERE account.balance <> 107 - used.points
           OR account.balance <> entries.sum OR entries.least < 0)::int AS wrong
       FROM ledger_accounts account
       JOIN LATERAL (
         SELECT count(*) AS rows, coalesce(sum(points), 0) AS points
         FROM usage_records WHERE user_id = account.owner_id
       ) used ON true
       JOIN LATERAL (
         SELECT sum(delta) AS sum, min(balance_after) AS least
         FROM ledger_entries WHERE account_id = account.id
       ) entries ON true
       WHERE account.owner_id = ANY ($1)`,
      [accounts],
    );
    expect(sums).toEqual([{ rows: ACCOUNTS * 12, wrong: 0, least: expect.any(Number) }]);
    expect(sums[0]?.least).toBeGreaterThanOrEqual(0);
  });
});

const at = (second: number): string => new Date(Date.UTC(2026, 2, 4, 0, 0, second)).toISOString();

async function connect(url: string): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  return client;
}
