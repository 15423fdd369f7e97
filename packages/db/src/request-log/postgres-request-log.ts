import type {
  LoggedRequest,
  RequestBodies,
  RequestFilter,
  RequestLog,
  RequestPosition,
  UsageRecord,
} from '@model-gateway/billing';
import { endOf } from '@model-gateway/inference';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import {
  allOf,
  asksForFailures,
  asksForMetered,
  failedThat,
  isAboveOk,
  meteredThat,
} from './request-conditions.ts';
import { withOwner } from '../usage/key-owner.ts';
import { readRequestDetails, type RequestDetails } from './request-details.ts';
import { readSumsState, type SumsState } from '../spend/sums-state.ts';
import { USAGE_RECORD } from '../usage/usage-record-columns.ts';

interface Page {
  readonly limit: number;
  readonly after?: RequestPosition | undefined;
}

/** A row with its time as exact as it is stored, in a form that sorts as the time does. */
type Found<Row> = Row & { readonly at: string };

interface HourLine {
  readonly hour: Date;
  readonly rows: number;
}

interface HourPage {
  readonly after: RequestPosition | undefined;
  /** Only hours before this one. */
  readonly before: Date | undefined;
  readonly countMax: number;
}

const AT = Prisma.sql`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US"+00"') AS at`;
const ERROR_MIN = 400;
/** How many hours are looked up first, and how many times as many with each further step. */
const HOURS_FIRST = 48;
const HOURS_GROWTH = 4;

/** Single requests in Postgres: metered ones and failed ones, in one order. */
export function createPostgresRequestLog(connection: Connection): RequestLog {
  return {
    list: (filter, page) =>
      connection.run(async (queries) => {
        // One more than the page, to know whether there is another page.
        const wanted = { ...page, limit: page.limit + 1 };
        const owned = await withOwner(queries, filter);
        const found = [
          ...(asksForMetered(owned) ? await meteredRequests(queries, owned, wanted) : []),
          ...(asksForFailures(owned) ? await failedRequests(queries, owned, wanted) : []),
        ].toSorted(newestFirst);
        const shown = found.slice(0, page.limit);
        const last = shown.at(-1);
        const next =
          found.length > shown.length && last ? { createdAt: last.at, id: last.id } : undefined;
        return { requests: shown.map(({ at: _at, ...request }) => request), next };
      }),

    find: (id) =>
      connection.run(async (queries) => {
        const [metered] = await queries.$queryRaw<UsageRecord[]>`
          SELECT ${USAGE_RECORD} FROM usage_records WHERE id = ${id}::uuid LIMIT 1`;
        if (metered !== undefined) {
          const details = await readRequestDetails(queries, [id]);
          return loggedOf(metered, details.get(id), await readSumsState(queries));
        }
        const [failed] = await queries.$queryRaw<LoggedRequest[]>`
          SELECT ${FAILED_REQUEST} FROM request_failures WHERE id = ${id}::uuid`;
        return failed;
      }),

    bodiesOf: (id) =>
      connection.run(async (queries) => {
        const [bodies] = await queries.$queryRaw<RequestBodies[]>`
          SELECT request, answer FROM request_bodies WHERE id = ${id}::uuid`;
        return bodies;
      }),
  };
}

const newestFirst = (one: Found<LoggedRequest>, other: Found<LoggedRequest>): number => {
  if (one.at !== other.at) return one.at < other.at ? 1 : -1;
  return one.id < other.id ? -1 : 1;
};

async function meteredRequests(
  queries: Queries,
  filter: RequestFilter,
  page: Page,
): Promise<readonly Found<LoggedRequest>[]> {
  const state = await readSumsState(queries);
  const rows =
    // After an upgrade, the sums do not have all rows until they have been counted.
    hasIndex(filter) || state.countedSince !== null
      ? await newestRows(queries, filter, page)
      : await rowsOfHours(queries, filter, page);
  const details = await readRequestDetails(
    queries,
    rows.map(({ id }) => id),
  );
  return rows.map(({ at, ...row }) => ({ ...loggedOf(row, details.get(row.id), state), at }));
}

const failedRequests = (
  queries: Queries,
  filter: RequestFilter,
  { limit, after }: Page,
): Promise<readonly Found<LoggedRequest>[]> => queries.$queryRaw<Found<LoggedRequest>[]>`
  SELECT ${FAILED_REQUEST}, ${AT} FROM request_failures
  WHERE ${failedThat(filter, after)}
  ORDER BY created_at DESC, id ASC
  LIMIT ${limit}`;

const FAILED_REQUEST = Prisma.sql`
  id, api_key_id AS "apiKeyId", key_id AS "keyId", user_id AS "userId", project, group_id AS "groupId", model, backend,
  0 AS "promptTokens", 0 AS "completionTokens", 0 AS "totalTokens", NULL::float8 AS cost, NULL::int AS points,
  NULL::text AS "accountType", ref_id AS "refId", created_at AS "createdAt", upstream, NULL::int AS "cachedTokens",
  latency_ms AS "latencyMs", NULL::int AS "firstTokenMs", status, NULL::int AS "cacheWriteTokens", NULL::int AS images,
  NULL::float8 AS "audioSeconds", NULL::jsonb AS price, false AS cached, NULL::jsonb AS "mediaTokens",
  coalesce(request_id, id::text) AS "requestId", error_code AS "errorCode", error, attempts, repeats`;

function loggedOf(
  row: UsageRecord,
  details: RequestDetails | undefined,
  { failuresSince }: Pick<SumsState, 'failuresSince'>,
): LoggedRequest {
  const { status } = row;
  const end = status !== null && status >= ERROR_MIN ? endOf(status) : undefined;
  return {
    ...row,
    requestId: details?.requestId ?? row.id,
    errorCode: end?.code ?? null,
    error: end?.message ?? null,
    attempts: details?.attempts ?? onlyAttempt(row, failuresSince),
    repeats: 1,
  };
}

/**
 * Attempts are stored only if one failed or a backend was passed over: otherwise the first backend answered. Of requests before
 * the oldest day of the log they are unknown.
 */
function onlyAttempt(
  { upstream, model, latencyMs, firstTokenMs, createdAt }: UsageRecord,
  oldestDay: Date | null,
): LoggedRequest['attempts'] {
  if (upstream === null || (oldestDay !== null && createdAt < oldestDay)) return null;
  const answered = { outcome: 'answered', reason: null, status: null } as const;
  return [{ backend: upstream, model, ...answered, ms: firstTokenMs ?? latencyMs ?? 0 }];
}

/**
 * Whether the newest rows that match lie close together in an index: those of a user, a model or a project, and errors. One key of
 * a user may have few of the user's rows; groups and upstreams have no index.
 */
const hasIndex = (filter: RequestFilter): boolean => {
  const { userId, keyId, requestId, groupId, upstream } = filter;
  if (requestId !== undefined) return true;
  if (keyId !== undefined) return false;
  return (
    userId !== undefined || isFailing(filter) || (groupId === undefined && upstream === undefined)
  );
};

const isFailing = ({ status, errorCode }: Pick<RequestFilter, 'status' | 'errorCode'>): boolean =>
  isAboveOk(status) || errorCode !== undefined;

const newestRows = (
  queries: Queries,
  filter: RequestFilter,
  { limit, after }: Page,
): Promise<readonly Found<UsageRecord>[]> => queries.$queryRaw<Found<UsageRecord>[]>`
  SELECT ${USAGE_RECORD}, ${AT} FROM usage_records
  WHERE ${meteredThat(filter, after)}
  ORDER BY created_at DESC, id ASC
  LIMIT ${limit}`;

/** Reads only the hours that have such rows, which the kept sums say. */
async function rowsOfHours(
  queries: Queries,
  filter: RequestFilter,
  { limit, after }: Page,
): Promise<readonly Found<UsageRecord>[]> {
  const found: Found<UsageRecord>[] = [];
  let before: Date | undefined;
  // A page of a busy service lies in a few hours, so that most hours of a long period need not be looked up.
  for (let countMax = HOURS_FIRST; found.length < limit; countMax *= HOURS_GROWTH) {
    const hours = await hoursWith(queries, filter, { after, before, countMax });
    for (let begin = 0; begin < hours.length && found.length < limit;) {
      // The sums have fewer conditions than the rows, so that several steps may be needed.
      let end = begin;
      for (let rows = 0; end < hours.length && rows < limit; end += 1)
        rows += hours[end]?.rows ?? 0;
      found.push(...(await rowsWithin(queries, hours.slice(begin, end), filter, { limit, after })));
      begin = end;
    }
    if (hours.length < countMax) break;
    before = hours.at(-1)?.hour;
  }
  return found;
}

/** The newest rows of these hours. */
const rowsWithin = (
  queries: Queries,
  hours: readonly HourLine[],
  filter: RequestFilter,
  { limit, after }: Page,
): Promise<readonly Found<UsageRecord>[]> => queries.$queryRaw<Found<UsageRecord>[]>`
  SELECT found.* FROM unnest(${hours.map(({ hour }) => hour.toISOString())}::timestamptz[]) AS step (hour)
  CROSS JOIN LATERAL (
    SELECT ${USAGE_RECORD}, ${AT} FROM usage_records
    WHERE created_at >= step.hour AND created_at < step.hour + interval '1 hour' AND ${meteredThat(filter, after)}
    ORDER BY created_at DESC, id ASC
    LIMIT ${limit}
  ) AS found
  ORDER BY "createdAt" DESC, id ASC
  LIMIT ${limit}`;

/** The hours that have rows of the key, or of the group, the model and the upstream, the newest first. */
async function hoursWith(
  queries: Queries,
  filter: RequestFilter,
  { after, before, countMax }: HourPage,
): Promise<readonly HourLine[]> {
  const { since, until } = filter;
  const counted = isFailing(filter) ? Prisma.sql`sum(errors)` : Prisma.sql`sum(requests)`;
  const conditions = [
    Prisma.sql`grain = 'hour'`,
    ...linesThat(filter),
    since && Prisma.sql`since > ${since}::timestamptz - interval '1 hour'`,
    until && Prisma.sql`since < ${until}::timestamptz`,
    after && Prisma.sql`since <= ${after.createdAt}::timestamptz`,
    before && Prisma.sql`since < ${before}::timestamptz`,
  ];
  return queries.$queryRaw<HourLine[]>`
    SELECT since AS hour, ${counted}::int AS rows FROM usage_sums
    WHERE ${allOf(conditions)}
    GROUP BY since HAVING ${counted} > 0
    ORDER BY since DESC
    LIMIT ${countMax}`;
}

/** The condition of the kept lines with the fewest rows besides those that match. */
function linesThat(filter: RequestFilter): readonly (Prisma.Sql | undefined)[] {
  const { userId, keyId, groupId, model, upstream } = filter;
  if (keyId !== undefined) {
    return [
      Prisma.sql`cut = 'account' AND key_id = ${keyId}::uuid`,
      userId === undefined ? undefined : Prisma.sql`user_id = ${userId}::uuid`,
    ];
  }
  const ofGroup = groupId === undefined ? undefined : Prisma.sql`group_id = ${groupId}::uuid`;
  const hasModels = model !== undefined || upstream !== undefined;
  if (ofGroup !== undefined && !hasModels) return [Prisma.sql`cut = 'group'`, ofGroup];
  return [
    ofGroup === undefined ? Prisma.sql`cut = 'model'` : Prisma.sql`cut = 'group-model'`,
    ofGroup,
    model === undefined ? undefined : Prisma.sql`model = ${model}`,
    upstream === undefined ? undefined : Prisma.sql`upstream = ${upstream}`,
  ];
}
