import { Client } from 'pg';

/** A usage row. */
export interface UsageRow {
  readonly id: string;
  readonly ref: string | null;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly points: number | null;
  /** `user:…` or `group:…`, null when the tier paid. */
  readonly account: string | null;
}

/** A wallet or a pool: its balance, and the sums of its entries. */
export interface AccountBook {
  readonly name: string;
  readonly balance: number;
  readonly lowest: number;
  readonly usage: number;
  readonly usageEntries: number;
  readonly moved: number;
}

/** What the database says at the end of a run. */
export interface Books {
  readonly rows: readonly UsageRow[];
  readonly accounts: readonly AccountBook[];
  /** The requests in the monthly totals. */
  readonly totalled: number;
  /** The states of video jobs, by id. */
  readonly jobs: ReadonlyMap<string, string>;
}

export async function readBooks(databaseUrl: string): Promise<Books> {
  return withClient(databaseUrl, async (client) => {
    const rows = await client.query<UsageRow>(`
      SELECT id, ref_id AS ref, prompt_tokens AS "promptTokens",
        completion_tokens AS "completionTokens", points,
        account_type || ':' || CASE account_type WHEN 'user' THEN user_id ELSE group_id END AS account
      FROM usage_records`);
    const accounts = await client.query<AccountBook>(`
      SELECT owner_type || ':' || owner_id AS name, balance::float8 AS balance,
        min(balance_after)::float8 AS lowest,
        coalesce(sum(delta) FILTER (WHERE kind = 'usage'), 0)::float8 AS usage,
        (count(*) FILTER (WHERE kind = 'usage'))::int AS "usageEntries",
        coalesce(sum(delta) FILTER (WHERE kind <> 'usage'), 0)::float8 AS moved
      FROM ledger_accounts JOIN ledger_entries ON account_id = ledger_accounts.id
      GROUP BY ledger_accounts.id`);
    const totals = await client.query<{ totalled: number }>(
      'SELECT coalesce(sum(requests), 0)::int AS totalled FROM quota_usage',
    );
    const jobs = await client.query<{ id: string; status: string }>(
      'SELECT id, status FROM video_jobs',
    );
    return {
      rows: rows.rows,
      accounts: accounts.rows,
      totalled: totals.rows[0]?.totalled ?? 0,
      jobs: new Map(jobs.rows.map(({ id, status }) => [id, status])),
    };
  });
}

/** How many video jobs have not ended. */
export const countUnfinishedJobs = (databaseUrl: string): Promise<number> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM video_jobs WHERE status IN ('queued', 'running')`,
    );
    return rows[0]?.count ?? 0;
  });

async function withClient<Result>(
  connectionString: string,
  read: (client: Client) => Promise<Result>,
): Promise<Result> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await read(client);
  } finally {
    await client.end();
  }
}
