// Generates usage rows inside of the database, so that millions take only minutes.

const USERS = 1000;
const HOURS_PER_DAY = 24;
const DAY_MS = HOURS_PER_DAY * 3_600_000;
/** When of the last 24 hours the most hours and rows are outside of whole days. */
const HOURS_OF_TODAY = 12;
const ROWS_PER_LINE = 1_000_000;
/** Of more rows than these only the newest days are there, and all of their sums. */
const ROWS_MAX = 20_000_000;
const DAYS_OF_ROWS = 2;
const TABLES = ['usage_records', 'quota_usage', 'budget_usage', 'request_failures'];
const REFS = 200;
const GROUPS = 20;
/** Failed requests that were not metered, in the log only. */
const FAILURES_PER_ROW = 0.01;
const RARE_ROWS = 60;

/** One user has a tenth of all rows; the queries ask for this user. */
const BUSY_USER = '00000000-0000-4000-8000-000000000000';
/** One of the groups. */
const GROUP = '00000000-0000-4000-a000-000000000001';
const BUSY_KEY = '00000000-0000-4000-9000-000000000000';
const RARE_KEY = '00000000-0000-4000-b000-000000000000';

/**
 * Fills the tables with this many rows in the order of time, as a service writes them: 12 models of 4 upstreams, 1,000
 * users. Nine users in ten call with a key, each with one, and half of the keys belong to one of 20 groups; the others call with a
 * token. One row in three has one of 200 references, each of which uses three of the models. One request in a hundred more failed.
 * Only the number of rows differs between runs; of very many only those of the newest days are made (`simulateDays`); 60 rows of a rare model, project and key are there at any size. The sums of days and
 * hours are not counted yet.
 */
export async function seed(client, { rows: asIf, days: allDays, now }, print) {
  const isSimulated = asIf > ROWS_MAX;
  const days = isSimulated ? DAYS_OF_ROWS : allDays;
  const rows = isSimulated ? Math.round((asIf / allDays) * days) : asIf;
  const today = new Date(Math.floor(now / DAY_MS) * DAY_MS);
  const since = new Date(today.getTime() - days * DAY_MS);
  await client.query(`TRUNCATE ${TABLES.join(', ')}`);
  await addUsers(client);
  await addKeys(client);
  await client.query(
    `SELECT usage_ensure_partitions(month::date)
     FROM generate_series(date_trunc('month', $1::timestamptz), $2::timestamptz, interval '1 month') month`,
    [new Date(today.getTime() - allDays * DAY_MS), today],
  );
  // So that the sums of one statement are made in memory.
  await client.query(`SET work_mem = '256MB'`);
  await client.query(`SET maintenance_work_mem = '512MB'`);
  await client.query('SELECT setseed(0.5)');
  await withoutIndexes(client, async () => {
    let there = 0;
    for (let day = 0; day <= days; day += 1) {
      const hours = day < days ? HOURS_PER_DAY : HOURS_OF_TODAY;
      const share = (day * HOURS_PER_DAY + hours) / (days * HOURS_PER_DAY + HOURS_OF_TODAY);
      const count = Math.round(share * rows) - there;
      await client.query(INSERT, [count, new Date(since.getTime() + day * DAY_MS), hours]);
      const millions = Math.floor((there + count) / ROWS_PER_LINE);
      if (millions > Math.floor(there / ROWS_PER_LINE)) print(`${millions} million rows`);
      there += count;
    }
    await client.query(INSERT_RARE, [RARE_ROWS, since, days, BUSY_USER, RARE_KEY]);
    await client.query(INSERT_FAILURES, [Math.ceil(rows * FAILURES_PER_ROW), since, days]);
  });
  await client.query(COUNT_TOTALS);
}

/** Copies the sums of the newest whole days to the days before them, where only some of the rows are there. */
export async function simulateDays(client, { rows, days }, print) {
  if (rows <= ROWS_MAX) return;
  const { rows: tables } = await client.query(
    `SELECT table_name AS name, string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) AS columns
     FROM information_schema.columns
     WHERE table_name ~ '^usage_by_(model|account|all|ref)_(hour|day)$' AND column_name <> 'since'
     GROUP BY 1`,
  );
  const { rows: newest } = await client.query(
    `SELECT date_trunc('day', max(created_at)) AS today FROM usage_records`,
  );
  for (let back = DAYS_OF_ROWS; back < days; back += DAYS_OF_ROWS)
    for (const { name, columns } of tables)
      await client.query(
        `INSERT INTO ${name} (since, ${columns})
         SELECT since - $2::int * interval '1 day', ${columns} FROM ${name}
         WHERE since < $1 AND since >= $1::timestamptz - $3::int * interval '1 day'`,
        [newest[0].today, back, DAYS_OF_ROWS],
      );
  print(`the sums of ${days} days are there, the rows of ${DAYS_OF_ROWS}`);
}

/** What the queries ask for. The rows end at noon of the current day. */
export async function sceneOf(client) {
  const { rows } = await client.query('SELECT max(created_at) AS newest FROM usage_records');
  const today = new Date(Math.floor(rows[0].newest.getTime() / DAY_MS) * DAY_MS);
  return {
    userId: BUSY_USER,
    groupId: GROUP,
    keyId: BUSY_KEY,
    rareKeyId: RARE_KEY,
    today,
    now: new Date(today.getTime() + (HOURS_OF_TODAY / HOURS_PER_DAY) * DAY_MS),
    month: new Date(today.getTime() - DAY_MS).toISOString().slice(0, 7),
  };
}

/** Makes the indexes after the rows, which takes a part of the time. Primary keys stay: kept lines are found by them. */
async function withoutIndexes(client, fill) {
  const { rows: indexes } = await client.query(
    `SELECT pg_get_indexdef(indexrelid) AS definition, indexrelid::regclass::text AS name
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE NOT indisunique AND NOT relispartition
       AND indrelid::regclass::text = 'usage_records'`,
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  await fill();
  // Of a table with partitions, the definition is about the table alone.
  for (const { definition } of indexes) await client.query(definition.replace(' ON ONLY ', ' ON '));
}

const addUsers = (client) =>
  client.query(
    `INSERT INTO users (id, email, password_hash)
     SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'user-' || n || '@example.com', 'none'
     FROM generate_series(0, $1::int - 1) n
     ON CONFLICT DO NOTHING`,
    [USERS],
  );

/** The key of each user, and the second one of the busy user. */
const addKeys = (client) =>
  client.query(
    `INSERT INTO api_keys (id, user_id, name, key_hash, key_prefix, key_hint)
     SELECT key_id, user_id, 'bench', encode(sha256(key_id::text::bytea), 'hex'), 'service-', 'service-…'
     FROM (
       SELECT
         ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid AS key_id,
         ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid AS user_id
       FROM generate_series(0, $1::int - 1) n
       UNION ALL SELECT $2::uuid, $3::uuid
     ) AS key
     ON CONFLICT DO NOTHING`,
    [USERS, RARE_KEY, BUSY_USER],
  );

// Sorted in a separate query: otherwise all random numbers of the query would equal the one that is sorted by.
const INSERT = `
  WITH drawn AS MATERIALIZED (
    SELECT
      random() AS share,
      CASE WHEN random() < 0.1 THEN 0 ELSE floor(random() * ${USERS})::int END AS person,
      CASE WHEN random() < 0.33 THEN floor(random() * ${REFS})::int ELSE -1 END AS ref,
      floor(random() * 12)::int AS kind,
      1 + floor(random() * 5)::int AS way,
      floor(random() * 4000)::int AS prompt,
      floor(random() * 1000)::int AS completion,
      random() < 0.95 AS is_priced,
      random() < 0.2 AS is_paid,
      random() < 0.01 AS is_broken
    FROM generate_series(1, $1::int)
  )
  INSERT INTO usage_records (
    user_id, key_id, group_id, api_key_id, project, model, backend, upstream, ref_id,
    prompt_tokens, completion_tokens, cached_tokens, total_tokens, cost, points, account_type, created_at,
    status, latency_ms, first_token_ms
  )
  SELECT
    ('00000000-0000-4000-8000-' || lpad(person::text, 12, '0'))::uuid,
    CASE WHEN person % 10 < 9 THEN ('00000000-0000-4000-9000-' || lpad(person::text, 12, '0'))::uuid END,
    CASE WHEN person % 10 < 9 AND person % 2 = 1
      THEN ('00000000-0000-4000-a000-' || lpad((person % ${GROUPS})::text, 12, '0'))::uuid END,
    'service-',
    CASE WHEN person % 10 < 9 THEN (ARRAY['web', 'default', 'batch'])[1 + person % 3] END,
    'model-' || model,
    (ARRAY['gateway', 'gateway', 'rpc', 'realtime', 'video'])[way],
    'upstream-' || model % 4,
    CASE WHEN ref >= 0 THEN 'ref-' || ref END,
    prompt, completion, prompt / 4, prompt + completion,
    CASE WHEN is_priced THEN (prompt * 2.5 + completion * 10) / 1e6 END,
    CASE WHEN is_paid THEN 1 END, CASE WHEN is_paid THEN 'user' END,
    $2::timestamptz + share * $3::float8 * interval '1 hour',
    CASE WHEN is_broken THEN 502 ELSE 200 END, completion * 10, 100
  FROM (SELECT *, CASE WHEN ref < 0 THEN kind ELSE (ref + kind % 3) % 12 END AS model FROM drawn) AS drawn
  ORDER BY share`;

// In equal steps over the whole time.
const INSERT_RARE = `
  INSERT INTO usage_records (
    user_id, key_id, api_key_id, project, model, backend, upstream,
    prompt_tokens, completion_tokens, total_tokens, created_at, status, latency_ms
  )
  SELECT $4::uuid, $5::uuid, 'service-', 'rare', 'model-rare', 'gateway', 'upstream-rare', 10, 10, 20,
    $2::timestamptz + (n - 0.5) / $1::int * $3::int * interval '1 day', 200, 100
  FROM generate_series(1, $1::int) n`;

const INSERT_FAILURES = `
  INSERT INTO request_failures (
    id, created_at, user_id, key_id, group_id, api_key_id, project, backend, model, counted_model, upstream, latency_ms,
    status, error_code, error, repeats
  )
  SELECT
    gen_random_uuid(), $2::timestamptz + (n - 0.5) / $1::int * $3::int * interval '1 day',
    ('00000000-0000-4000-8000-' || lpad(person::text, 12, '0'))::uuid,
    ('00000000-0000-4000-9000-' || lpad(person::text, 12, '0'))::uuid,
    CASE WHEN person % 2 = 1
      THEN ('00000000-0000-4000-a000-' || lpad((person % ${GROUPS})::text, 12, '0'))::uuid END,
    'service-', (ARRAY['web', 'default', 'batch'])[1 + person % 3], 'gateway',
    'model-' || person % 12, 'model-' || person % 12, 'upstream-' || person % 4, 100,
    502, 'bad_gateway', 'the upstream failed', 1
  FROM (
    SELECT n, CASE WHEN n % 10 = 0 THEN 0 ELSE (n * 7919) % ${USERS} END AS person
    FROM generate_series(1, $1::int) n
  ) AS drawn`;

const COUNT_TOTALS = `
  INSERT INTO quota_usage (user_id, month, requests, tier_cost, tier_tokens, updated_at)
  SELECT
    user_id, date_trunc('month', created_at, 'UTC')::date, count(*), coalesce(sum(cost::numeric) FILTER (WHERE points IS NULL), 0),
    coalesce(sum(total_tokens) FILTER (WHERE points IS NULL), 0), now()
  FROM usage_records GROUP BY 1, 2`;
