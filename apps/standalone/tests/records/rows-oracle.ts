import type { TestContext } from '@model-gateway/testkit';

type Query = TestContext['query'];

/** The conditions that requests match, by the columns of the rows. */
export interface RowFilter {
  readonly user_id?: string | undefined;
  readonly key_id?: string | undefined;
  readonly group_id?: string | undefined;
  readonly project?: string | undefined;
  readonly model?: string | undefined;
  readonly upstream?: string | undefined;
}

const COLUMNS = ['user_id', 'key_id', 'group_id', 'project', 'model', 'upstream'] as const;

/** The rows of metered and of failed requests, with what each adds to a sum. */
const ALL_REQUESTS = `
  SELECT created_at, user_id, key_id, group_id, project, model, upstream,
    1 AS requests, ((status >= 400 AND status <> 499) IS TRUE)::int AS errors, 0 AS failed,
    ((status = 499) IS TRUE)::int AS cancelled,
    prompt_tokens, completion_tokens, coalesce(cached_tokens, 0) AS cached_tokens, total_tokens,
    coalesce(cost, 0) AS cost, coalesce(points, 0) AS points
  FROM usage_records
  UNION ALL
  SELECT created_at, user_id, key_id, group_id, project, nullif(counted_model, ''), upstream,
    0, CASE WHEN status = 499 THEN 0 ELSE repeats END, repeats, 0, 0, 0, 0, 0, 0, 0
  FROM request_failures`;

const SUMS = [
  'requests',
  'errors',
  'failed',
  'cancelled',
  'prompt_tokens',
  'completion_tokens',
  'cached_tokens',
  'total_tokens',
  'points',
] as const;

const GROUPINGS = {
  day: `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
  hour: `to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24":00:00Z"')`,
  model: 'model',
  upstream: 'upstream',
  key: 'key_id::text',
  project: 'project',
  group: 'group_id::text',
  user: 'user_id::text',
} as const;

export type SpendGrouping = keyof typeof GROUPINGS;
export const SPEND_GROUPINGS = Object.keys(GROUPINGS) as readonly SpendGrouping[];

export interface Summary {
  readonly groups: readonly Readonly<Record<string, unknown>>[];
  readonly total: Readonly<Record<string, unknown>>;
}

/** Moments: from the first one, and before the second one. */
export interface Bounds {
  readonly since: string;
  readonly until: string;
}

type Ranges = Readonly<Record<string, Bounds>>;

/** What `usage.summary` answers for each range by each grouping, from the rows alone; the name is `nameOf(range, grouping)`. */
export async function summariesOfRows(
  query: Query,
  filter: RowFilter,
  ranges: Ranges,
): Promise<ReadonlyMap<string, Summary>> {
  const values = valuesOf(ranges);
  const groupings = SPEND_GROUPINGS.map((by) => `${GROUPINGS[by]} AS by_${by}`).join(', ');
  const rows = await query(
    `WITH chosen AS (
       SELECT *, ${groupings} FROM ${RANGES} JOIN (${ALL_REQUESTS}) AS request ON ${IS_IN_RANGE}
       WHERE ${conditionOf(filter, values)}
     )
     ${SPEND_GROUPINGS.map((by) => groupsBy(by)).join(' UNION ALL ')}
     UNION ALL SELECT range, 'total', NULL, ${SUM_COLUMNS} FROM chosen GROUP BY range`,
    values,
  );
  const found = groupsByName(rows);
  const nothing = Object.fromEntries([...SUMS, 'cost_usd'].map((sum) => [sum, 0]));
  return new Map(
    Object.keys(ranges).flatMap((range) => {
      const total = sumsOf(found.get(nameOf(range, 'total'))) ?? nothing;
      return SPEND_GROUPINGS.map((by) => {
        const groups = (found.get(nameOf(range, by)) ?? []).toSorted(
          by === 'day' || by === 'hour' ? byKey : byCost,
        );
        return [nameOf(range, by), { groups, total }] as const;
      });
    }),
  );
}

/** Rows of sums with the columns `range`, `grouping` and `key`, by their range and grouping. */
function groupsByName(rows: readonly Record<string, unknown>[]): ReadonlyMap<string, Group[]> {
  const found = new Map<string, Group[]>();
  for (const { range, grouping, key, ...sums } of rows) {
    const name = nameOf(range, grouping);
    const groups = found.get(name) ?? [];
    groups.push({ key, ...sums });
    found.set(name, groups);
  }
  return found;
}

/** The sums of a group that is the only one. */
function sumsOf(groups: readonly Group[] | undefined): Record<string, unknown> | undefined {
  if (groups?.[0] === undefined) return undefined;
  const { key: _key, ...sums } = groups[0];
  return sums;
}

export const nameOf = (range: unknown, by: unknown): string => `${String(range)}, by ${String(by)}`;

const RANGES = `unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS period (range, since, until)`;
const IS_IN_RANGE = 'created_at >= period.since AND created_at < period.until';

const valuesOf = (ranges: Ranges): unknown[] => [
  Object.keys(ranges),
  Object.values(ranges).map(({ since }) => since),
  Object.values(ranges).map(({ until }) => until),
];

const SUM_COLUMNS = [
  ...SUMS.map((sum) => `sum(${sum})::float8 AS ${sum}`),
  'sum(cost)::float8 AS cost_usd',
].join(', ');

const groupsBy = (by: SpendGrouping): string =>
  `SELECT range, '${by}' AS grouping, by_${by} AS key, ${SUM_COLUMNS} FROM chosen GROUP BY range, by_${by}`;

interface Group {
  readonly key: unknown;
  readonly [sum: string]: unknown;
}

const byCost = (one: Group, other: Group): number =>
  Number(other['cost_usd']) - Number(one['cost_usd']) ||
  Number(other['requests']) - Number(one['requests']) ||
  byKey(one, other);

/** By code point, null last. */
function byKey({ key: one }: Group, { key: other }: Group): number {
  if (typeof one !== 'string' || typeof other !== 'string') return one === null ? 1 : -1;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** The condition in SQL; adds its values to the list. */
function conditionOf(filter: RowFilter, values: unknown[]): string {
  const place = (value: unknown): string => `$${values.push(value)}`;
  return [
    'true',
    ...COLUMNS.flatMap((column) =>
      filter[column] === undefined ? [] : [`${column}::text = ${place(filter[column])}`],
    ),
  ].join(' AND ');
}

/** Which requests `requests.list` has, besides the filter of sums. */
export interface ListFilter extends RowFilter, Partial<Bounds> {
  readonly status?: 'ok' | 'error' | 'cancelled' | number | undefined;
  readonly error_code?: string | undefined;
  readonly request_id?: string | undefined;
}

/** What `requests.list` answers on all pages together, from the rows alone: of each request what every row has. */
export async function requestsOfRows(query: Query, filter: ListFilter): Promise<readonly object[]> {
  const { since, until, status, error_code: errorCode, request_id: requestId } = filter;
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [conditionOf(filter, values)];
  if (since !== undefined) conditions.push(`created_at >= ${place(since)}::timestamptz`);
  if (until !== undefined) conditions.push(`created_at < ${place(until)}::timestamptz`);
  if (status === 'ok') conditions.push('coalesce(status, 200) < 400');
  if (status === 'error') conditions.push('status >= 400 AND status <> 499');
  if (status === 'cancelled') conditions.push('status = 499');
  if (typeof status === 'number') conditions.push(`status = ${place(status)}`);
  if (errorCode !== undefined) conditions.push(`error_code = ${place(errorCode)}`);
  if (requestId !== undefined) conditions.push(`${place(requestId)} IN (id::text, request_id)`);
  return query(
    `SELECT id, to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS created_at,
       user_id, key_id, group_id, project, model, upstream, status, error_code, coalesce(request_id, id::text) AS request_id,
       prompt_tokens, completion_tokens, total_tokens, cost, points, repeats
     FROM (
       SELECT id, usage.created_at, user_id, key_id, group_id, project, model, upstream, status,
         CASE WHEN status = 499 THEN 'client_left' WHEN status >= 400 THEN 'bad_gateway' END AS error_code,
         request_id, prompt_tokens, completion_tokens, total_tokens, cost, points, 1 AS repeats
       FROM usage_records AS usage
       LEFT JOIN (SELECT id, request_id FROM request_details) AS details USING (id)
       UNION ALL
       SELECT id, created_at, user_id, key_id, group_id, project, model, upstream, status, error_code, request_id,
         0, 0, 0, NULL, NULL, repeats
       FROM request_failures
     ) AS request
     WHERE ${conditions.join(' AND ')}
     ORDER BY request.created_at DESC, id`,
    values,
  );
}

const USAGE_GROUPINGS = {
  model: 'model',
  backend: 'backend',
  ref: 'ref_id',
  day: GROUPINGS.day,
} as const;

export type UsageGrouping = keyof typeof USAGE_GROUPINGS;
export const USAGE_GROUPINGS_ALL = Object.keys(USAGE_GROUPINGS) as readonly UsageGrouping[];

const USAGE_SUMS = `
  count(*)::float8 AS requests, sum(prompt_tokens)::float8 AS prompt_tokens,
  sum(completion_tokens)::float8 AS completion_tokens, sum(total_tokens)::float8 AS total_tokens,
  coalesce(sum(cost), 0)::float8 AS cost_usd`;

const NO_USAGE = {
  requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  cost_usd: 0,
};

/** What `usage/query` answers: all ids in the order of the records. */
export interface FoundUsage {
  readonly totals: unknown;
  readonly groups: readonly unknown[] | undefined;
  readonly ids: readonly string[];
}

/** What `usage/query` answers for each range, without a grouping and by each, from the rows alone. */
export async function usageOfRows(
  query: Query,
  refs: readonly string[],
  ranges: Ranges,
): Promise<(range: string, by: UsageGrouping | undefined) => FoundUsage> {
  const groupings = Object.values(USAGE_GROUPINGS).map((key, index) => `${key} AS by_${index}`);
  const values = [...valuesOf(ranges), refs];
  const chosen = `
    WITH chosen AS (
      SELECT *, ${groupings.join(', ')} FROM ${RANGES} JOIN usage_records ON ${IS_IN_RANGE}
      WHERE cardinality($4::text[]) = 0 OR ref_id = ANY ($4::text[])
    )`;
  const sumsBy = USAGE_GROUPINGS_ALL.map(
    (by, index) => `SELECT range, '${by}', by_${index}, ${USAGE_SUMS} FROM chosen GROUP BY 1, 3`,
  );
  const found = groupsByName(
    await query(
      `${chosen} SELECT range, 'total' AS grouping, NULL AS key, ${USAGE_SUMS} FROM chosen GROUP BY range
       UNION ALL ${sumsBy.join(' UNION ALL ')}`,
      values,
    ),
  );
  const rows = await query(
    `${chosen} SELECT range, array_agg(id::text ORDER BY created_at DESC, id) AS ids FROM chosen GROUP BY range`,
    values,
  );
  const idsOf = new Map(rows.map(({ range, ids }) => [range, ids as readonly string[]]));
  return (range, by) => ({
    totals: sumsOf(found.get(nameOf(range, 'total'))) ?? NO_USAGE,
    groups: by === undefined ? undefined : (found.get(nameOf(range, by)) ?? []).toSorted(byTokens),
    ids: idsOf.get(range) ?? [],
  });
}

const byTokens = (one: Group, other: Group): number =>
  Number(other['total_tokens']) - Number(one['total_tokens']) || byKey(one, other);

/** What each plan of a user and a month has used, from the rows alone; the name is `nameOf(month, user)`. */
export async function plansOfRows(query: Query): Promise<ReadonlyMap<string, unknown>> {
  const rows = await query(
    `SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, user_id,
       count(*)::float8 AS requests,
       coalesce(sum(cost) FILTER (WHERE points IS NULL), 0)::float8 AS cost_usd,
       coalesce(sum(total_tokens) FILTER (WHERE points IS NULL), 0)::float8 AS tokens
     FROM usage_records GROUP BY 1, 2`,
  );
  return new Map(rows.map(({ month, user_id: user, ...usage }) => [nameOf(month, user), usage]));
}

/** What each key has cost since a time, from the rows alone. */
export async function costsOfKeys(
  query: Query,
  since: string,
): Promise<ReadonlyMap<unknown, unknown>> {
  const rows = await query(
    `SELECT key_id, sum(cost)::float8 AS cost FROM usage_records
     WHERE key_id IS NOT NULL AND created_at >= $1 AND cost IS NOT NULL GROUP BY 1`,
    [since],
  );
  return new Map(rows.map(({ key_id: key, cost }) => [key, cost]));
}

/** The ids of a user's usage in the order of `usage.list`, from the rows alone. */
export async function usageIdsOfRows(
  query: Query,
  userId: string,
  project: string | undefined,
): Promise<readonly unknown[]> {
  const rows = await query(
    `SELECT id FROM usage_records WHERE user_id = $1 AND ($2::text IS NULL OR project = $2)
     ORDER BY created_at DESC, id`,
    [userId, project ?? null],
  );
  return rows.map(({ id }) => id);
}
