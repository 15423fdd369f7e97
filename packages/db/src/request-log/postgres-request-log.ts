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
import { asksForFailures, asksForMetered, failedThat, meteredThat } from './request-conditions.ts';
import { withOwner } from '../usage/key-owner.ts';
import { readRequestDetails, type RequestDetails } from './request-details.ts';
import { logKeptSince } from './log-state.ts';
import { USAGE_RECORD } from '../usage/usage-record-columns.ts';

interface Page {
  readonly limit: number;
  readonly after?: RequestPosition | undefined;
}

/** A row with its time as exact as it is stored, in a form that sorts as the time does. */
type Found<Row> = Row & { readonly at: string };

const AT = Prisma.sql`to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US"+00"') AS at`;
const ERROR_MIN = 400;

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
          return loggedOf(metered, details.get(id), await logKeptSince(queries));
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
  const keptSince = await logKeptSince(queries);
  const rows = await queries.$queryRaw<Found<UsageRecord>[]>`
    SELECT ${USAGE_RECORD}, ${AT} FROM usage_records
    WHERE ${meteredThat(filter, page.after)}
    ORDER BY created_at DESC, id ASC
    LIMIT ${page.limit}`;
  const details = await readRequestDetails(
    queries,
    rows.map(({ id }) => id),
  );
  return rows.map(({ at, ...row }) => ({ ...loggedOf(row, details.get(row.id), keptSince), at }));
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
  id, api_key_id AS "apiKeyId", key_id AS "keyId", user_id AS "userId", project, group_id AS "groupId",
  model, backend AS surface,
  0 AS "promptTokens", 0 AS "completionTokens", 0 AS "totalTokens", NULL::float8 AS cost, NULL::int AS points,
  NULL::text AS "accountType", ref_id AS "refId", created_at AS "createdAt", upstream, NULL::int AS "cachedTokens",
  latency_ms AS "latencyMs", NULL::int AS "firstTokenMs", status, NULL::int AS "cacheWriteTokens", NULL::int AS images,
  NULL::float8 AS "audioSeconds", NULL::jsonb AS price, false AS cached, NULL::jsonb AS "mediaTokens",
  coalesce(request_id, id::text) AS "requestId", error_code AS "errorCode", error, attempts, repeats`;

function loggedOf(
  row: UsageRecord,
  details: RequestDetails | undefined,
  keptSince: Date | null,
): LoggedRequest {
  const { status } = row;
  const end = status !== null && status >= ERROR_MIN ? endOf(status) : undefined;
  return {
    ...row,
    requestId: details?.requestId ?? row.id,
    errorCode: end?.code ?? null,
    error: end?.message ?? null,
    attempts: details?.attempts ?? onlyAttempt(row, keptSince),
    repeats: 1,
  };
}

/**
 * Attempts are stored only if one failed or a backend was skipped: otherwise the first backend answered. Of requests before
 * the oldest day of the log they are unknown.
 */
function onlyAttempt(
  { upstream, model, latencyMs, firstTokenMs, createdAt }: UsageRecord,
  keptSince: Date | null,
): LoggedRequest['attempts'] {
  if (upstream === null || (keptSince !== null && createdAt < keptSince)) return null;
  const answered = { outcome: 'answered', reason: null, status: null } as const;
  return [{ backend: upstream, model, ...answered, ms: firstTokenMs ?? latencyMs ?? 0 }];
}
