import type { DrawingAccount } from '@model-gateway/billing';
import { Client } from 'pg';
import type { LoadRequest } from './money-load.ts';
import type { MoneyScene } from './money-scene.ts';

/** The billing fields of a usage row. */
export interface UsageRow {
  readonly id: string;
  readonly ref: string;
  readonly model: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number | null;
  readonly points: number | null;
  readonly accountType: string | null;
}

interface AccountBook extends DrawingAccount {
  readonly balance: number;
  readonly lowest: number;
  readonly entries: number;
  /** The sums of the entries: those of usage, and all. */
  readonly usage: number;
  readonly total: number;
}

/** The state of the database at the end. */
export interface MoneyBooks {
  readonly rows: readonly UsageRow[];
  readonly accounts: readonly AccountBook[];
  /** The number of rows in the monthly totals. */
  readonly totalled: number;
}

export const POINTS_PER_USD = 1_000_000;

/** All at one moment: usage of requests that failed may still be recorded. */
export async function readBooks(databaseUrl: string): Promise<MoneyBooks> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const rows = await client.query<UsageRow>(`
      SELECT id, ref_id AS ref, model, user_id AS "userId", group_id AS "groupId",
        prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens", cost, points,
        account_type AS "accountType"
      FROM usage_records`);
    const accounts = await client.query<AccountBook>(`
      SELECT owner_type AS type, owner_id AS id, balance::float8 AS balance,
        min(balance_after)::float8 AS lowest,
        (count(*) FILTER (WHERE kind = 'usage'))::int AS entries,
        coalesce(sum(delta) FILTER (WHERE kind = 'usage'), 0)::float8 AS usage,
        sum(delta)::float8 AS total
      FROM ledger_accounts JOIN ledger_entries ON account_id = ledger_accounts.id
      GROUP BY ledger_accounts.id`);
    const totals = await client.query<{ totalled: number }>(
      'SELECT coalesce(sum(requests), 0)::int AS totalled FROM quota_usage',
    );
    return {
      rows: rows.rows,
      accounts: accounts.rows,
      totalled: totals.rows[0]?.totalled ?? 0,
    };
  } finally {
    await client.end();
  }
}

/** How many of these requests have a row. */
export async function countRecorded(databaseUrl: string, refs: readonly string[]): Promise<number> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ found: number }>(
      'SELECT count(DISTINCT ref_id)::int AS found FROM usage_records WHERE ref_id = ANY($1)',
      [refs],
    );
    return rows[0]?.found ?? 0;
  } finally {
    await client.end();
  }
}

/** For every account: deposits minus the usage of its rows equal the balance, which was never below zero. */
export function expectConserved({ rows, accounts, totalled }: MoneyBooks, scene: MoneyScene): void {
  expect(accounts.length).toBeGreaterThan(0);
  for (const account of accounts) {
    const charged = rows.filter((row) => isChargedTo(row, account));
    const points = charged.reduce((sum, row) => sum + (row.points ?? 0), 0);
    expect(account).toMatchObject({
      balance: scene.funded(account) - points,
      usage: -points || 0,
      total: account.balance,
      entries: charged.length,
    });
    expect(account.balance).toBeGreaterThanOrEqual(0);
    expect(account.lowest).toBeGreaterThanOrEqual(0);
  }
  const charged = rows.filter(({ points }) => points !== null);
  expect(accounts.reduce((sum, { entries }) => sum + entries, 0)).toBe(charged.length);
  expect(totalled).toBe(rows.length);
}

/** Every row belongs to one request, each request has at most one row, and the points match the price. */
export function expectRowsOf({ rows }: MoneyBooks, sent: readonly LoadRequest[]): void {
  const byRef = new Map(sent.map((one) => [one.ref, one]));
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  expect(new Set(rows.map(({ ref }) => ref)).size).toBe(rows.length);
  const wrong = rows.filter((row) => {
    const one = byRef.get(row.ref);
    return one === undefined || !isCorrectlyCharged(row, one);
  });
  expect(wrong).toEqual([]);
}

/** A served request has a row with its tokens; a client that left early is billed at least for what arrived. */
export function expectTokensOf({ rows }: MoneyBooks, served: readonly LoadRequest[]): void {
  const byRef = new Map(rows.map((row) => [row.ref, row.completionTokens]));
  const wrong = served.filter(({ ref, habit, replyTokens, outcome }) => {
    const billed = byRef.get(ref) ?? -1;
    const hasLeft = habit === 'leaves' && !outcome.isComplete;
    return hasLeft ? billed < outcome.pieces : billed !== replyTokens;
  });
  expect(wrong).toEqual([]);
}

function isCorrectlyCharged(row: UsageRow, { key, habit, promptTokens }: LoadRequest): boolean {
  const { prompt, completion } = { prompt: row.promptTokens, completion: row.completionTokens };
  // The price of the models whose names contain gpt-4o.
  const cost = habit === 'unpriced' ? null : (prompt / 1e6) * 2.5 + (completion / 1e6) * 10;
  // In whole millionths up to the last step, so that half a point is exactly that.
  const millionths = cost === null ? 0 : prompt * 2.5 + completion * 10;
  const charge = Math.round((millionths * POINTS_PER_USD * key.multiplier) / 1e6);
  // A request without cost takes one point when the tier is drained and points pay.
  const possible = charge === 0 ? [null, ...(cost === null ? [] : [1])] : [null, charge];
  return (
    prompt === promptTokens &&
    row.cost === cost &&
    row.userId === key.userId &&
    possible.includes(row.points) &&
    row.accountType === (row.points === null ? null : key.account.type)
  );
}

function isChargedTo(row: UsageRow, { type, id }: DrawingAccount): boolean {
  return row.accountType === type && (type === 'user' ? row.userId : row.groupId) === id;
}
