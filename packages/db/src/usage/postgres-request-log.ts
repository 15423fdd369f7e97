import type {
  RequestFilter,
  RequestLog,
  RequestPosition,
  UsageRecord,
} from '@model-gateway/billing';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { USAGE_RECORD } from './usage-record-columns.ts';

interface Page {
  readonly limit: number;
  readonly after?: RequestPosition | undefined;
}

/** A row with its time as exact as it is stored. */
type FoundRow = UsageRecord & { readonly at: string };

interface HourLine {
  readonly hour: Date;
  readonly rows: number;
}

/** Single requests in Postgres. */
export function createPostgresRequestLog(connection: Connection): RequestLog {
  return {
    list: (filter, page) =>
      connection.run(async (queries) => {
        // One more than the page, to know whether there is another page.
        const wanted = { ...page, limit: page.limit + 1 };
        const owned = await withOwner(queries, filter);
        const rows =
          hasIndex(owned) || !(await areSumsComplete(queries))
            ? await newestRows(queries, owned, wanted)
            : await rowsOfHours(queries, owned, wanted);
        const shown = rows.slice(0, page.limit);
        const last = shown.at(-1);
        const next =
          rows.length > shown.length && last ? { createdAt: last.at, id: last.id } : undefined;
        return { requests: shown.map(({ at: _at, ...record }) => record), next };
      }),

    find: (id) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<UsageRecord[]>`
          SELECT ${USAGE_RECORD} FROM usage_records WHERE id = ${id}::uuid LIMIT 1`;
        return rows[0];
      }),
  };
}

/** A key belongs to one user, and rows have an index by user. */
async function withOwner(queries: Queries, filter: RequestFilter): Promise<RequestFilter> {
  if (filter.keyId === undefined || filter.userId !== undefined) return filter;
  const key = await queries.apiKey.findUnique({
    where: { id: filter.keyId },
    select: { userId: true },
  });
  return { ...filter, userId: key?.userId };
}

/** Whether the newest rows that match lie close together in an index. */
const hasIndex = ({ userId, groupId, model, upstream, status }: RequestFilter): boolean =>
  userId !== undefined ||
  (groupId === undefined && model === undefined && upstream === undefined && !isError(status));

const isError = (status: RequestFilter['status']): boolean =>
  status === 'error' || (typeof status === 'number' && status >= 400);

const newestRows = (
  queries: Queries,
  filter: RequestFilter,
  { limit, after }: Page,
): Promise<readonly FoundRow[]> => queries.$queryRaw<FoundRow[]>`
  SELECT ${USAGE_RECORD}, created_at::text AS at FROM usage_records
  WHERE ${rowsThat(filter, after)}
  ORDER BY created_at DESC, id ASC
  LIMIT ${limit}`;

/** Reads only the hours that have such rows, which the kept sums say. */
async function rowsOfHours(
  queries: Queries,
  filter: RequestFilter,
  { limit, after }: Page,
): Promise<readonly FoundRow[]> {
  const hours = await hoursWith(queries, filter, after);
  const found: FoundRow[] = [];
  for (let begin = 0; begin < hours.length && found.length < limit;) {
    // The sums have fewer conditions than the rows, so that several steps may be needed.
    let end = begin;
    for (let rows = 0; end < hours.length && rows < limit; end += 1) rows += hours[end]?.rows ?? 0;
    const step = hours.slice(begin, end).map(({ hour }) => hour.toISOString());
    found.push(
      ...(await queries.$queryRaw<FoundRow[]>`
        SELECT found.* FROM unnest(${step}::timestamptz[]) AS step (hour)
        CROSS JOIN LATERAL (
          SELECT ${USAGE_RECORD}, created_at::text AS at FROM usage_records
          WHERE created_at >= step.hour AND created_at < step.hour + interval '1 hour' AND ${rowsThat(filter, after)}
          ORDER BY created_at DESC, id ASC
          LIMIT ${limit}
        ) AS found
        ORDER BY "createdAt" DESC, id ASC
        LIMIT ${limit}`),
    );
    begin = end;
  }
  return found;
}

/** After an upgrade, the sums do not have all rows until they have been counted. */
async function areSumsComplete(queries: Queries): Promise<boolean> {
  const state = await queries.usageSumsState.findFirst();
  return (state?.completeSince ?? null) === null;
}

/** The hours that have rows of the group, or of the model and the upstream, the newest first. */
async function hoursWith(
  queries: Queries,
  { groupId, model, upstream, status, since, until }: RequestFilter,
  after: RequestPosition | undefined,
): Promise<readonly HourLine[]> {
  const counted = isError(status) ? Prisma.sql`sum(errors)` : Prisma.sql`sum(requests)`;
  const conditions = [
    Prisma.sql`grain = 'hour' AND cut = ${groupId === undefined ? 'model' : 'account'}`,
    groupId === undefined ? undefined : Prisma.sql`group_id = ${groupId}::uuid`,
    model === undefined || groupId !== undefined ? undefined : Prisma.sql`model = ${model}`,
    upstream === undefined || groupId !== undefined
      ? undefined
      : Prisma.sql`upstream = ${upstream}`,
    since && Prisma.sql`since > ${since}::timestamptz - interval '1 hour'`,
    until && Prisma.sql`since < ${until}::timestamptz`,
    after && Prisma.sql`since <= ${after.createdAt}::timestamptz`,
  ];
  return queries.$queryRaw<HourLine[]>`
    SELECT since AS hour, ${counted}::int AS rows FROM usage_sums
    WHERE ${allOf(conditions)}
    GROUP BY since HAVING ${counted} > 0
    ORDER BY since DESC`;
}

/** The condition of the rows that match the filter and come after the position. */
function rowsThat(filter: RequestFilter, after: RequestPosition | undefined): Prisma.Sql {
  const { userId, keyId, groupId, project, model, upstream, status, since, until } = filter;
  return allOf([
    userId === undefined ? undefined : Prisma.sql`user_id = ${userId}::uuid`,
    keyId === undefined ? undefined : Prisma.sql`key_id = ${keyId}::uuid`,
    groupId === undefined ? undefined : Prisma.sql`group_id = ${groupId}::uuid`,
    project === undefined ? undefined : Prisma.sql`project = ${project}`,
    model === undefined ? undefined : Prisma.sql`model = ${model}`,
    upstream === undefined ? undefined : Prisma.sql`upstream = ${upstream}`,
    statusThat(status),
    since && Prisma.sql`created_at >= ${since}::timestamptz`,
    until && Prisma.sql`created_at < ${until}::timestamptz`,
    after &&
      Prisma.sql`created_at <= ${after.createdAt}::timestamptz
        AND (created_at < ${after.createdAt}::timestamptz OR id > ${after.id}::uuid)`,
  ]);
}

/** Rows of earlier versions have no status, and were served. */
function statusThat(status: RequestFilter['status']): Prisma.Sql | undefined {
  if (status === undefined) return undefined;
  if (status === 'ok') return Prisma.sql`(status IS NULL OR status < 400)`;
  return status === 'error' ? Prisma.sql`status >= 400` : Prisma.sql`status = ${status}`;
}

function allOf(conditions: readonly (Prisma.Sql | undefined)[]): Prisma.Sql {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? Prisma.sql`true` : Prisma.join(given, ' AND ');
}
