import type { RequestFilter, RequestPosition } from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';

const ERROR_MIN = 400;
const LEFT = 499;
/** As the index of errors says it: without a parameter, so that Postgres can see that the index has all of them. */
const IN_ERROR_INDEX = Prisma.sql`status >= 400`;
/** As their indexes say it. */
const IS_CANCELLED = Prisma.sql`status = 499`;

/** Whether all requests that match have a status of 400 or more. */
const isAboveOk = (status: RequestFilter['status']): boolean =>
  status === 'error' ||
  status === 'cancelled' ||
  (typeof status === 'number' && status >= ERROR_MIN);

/** Whether a failed request can match the filter. */
export const asksForFailures = ({ status }: RequestFilter): boolean =>
  status === undefined || isAboveOk(status);

/** Whether a metered request can match the filter: it has one of two errors, by its status. */
export const asksForMetered = ({ errorCode }: RequestFilter): boolean =>
  errorCode === undefined || errorCode === 'client_left' || errorCode === 'bad_gateway';

/** The condition of the metered requests that match the filter and come after the position. */
export const meteredThat = (
  filter: RequestFilter,
  after: RequestPosition | undefined,
): Prisma.Sql =>
  allOf([
    ...common(filter, after),
    statusThat(filter.status),
    meteredErrorThat(filter.errorCode),
    filter.requestId === undefined
      ? undefined
      : Prisma.sql`id IN (
          SELECT id FROM request_details WHERE request_id = ${filter.requestId} ${orOwn(filter.requestId)})`,
  ]);

/** The same for failed requests. */
export const failedThat = (filter: RequestFilter, after: RequestPosition | undefined): Prisma.Sql =>
  allOf([
    ...common(filter, after),
    failedStatusThat(filter.status),
    filter.errorCode === undefined ? undefined : Prisma.sql`error_code = ${filter.errorCode}`,
    filter.requestId === undefined
      ? undefined
      : Prisma.sql`id IN (
          SELECT id FROM request_failures WHERE request_id = ${filter.requestId} ${orOwn(filter.requestId)})`,
  ]);

function common(
  { userId, keyId, groupId, project, model, upstream, since, until }: RequestFilter,
  after: RequestPosition | undefined,
): readonly (Prisma.Sql | undefined)[] {
  return [
    userId === undefined ? undefined : Prisma.sql`user_id = ${userId}::uuid`,
    keyId === undefined ? undefined : Prisma.sql`key_id = ${keyId}::uuid`,
    groupId === undefined ? undefined : Prisma.sql`group_id = ${groupId}::uuid`,
    project === undefined ? undefined : Prisma.sql`project = ${project}`,
    model === undefined ? undefined : Prisma.sql`model = ${model}`,
    upstream === undefined ? undefined : Prisma.sql`upstream = ${upstream}`,
    since && Prisma.sql`created_at >= ${since}::timestamptz`,
    until && Prisma.sql`created_at < ${until}::timestamptz`,
    after &&
      Prisma.sql`created_at <= ${after.createdAt}::timestamptz
        AND (created_at < ${after.createdAt}::timestamptz OR id > ${after.id}::uuid)`,
  ];
}

const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;

/** An id of the service is that of the row. */
const orOwn = (requestId: string): Prisma.Sql =>
  UUID.test(requestId) ? Prisma.sql`UNION ALL SELECT ${requestId}::uuid` : Prisma.empty;

/** Rows of earlier versions have no status, and were served. */
function statusThat(status: RequestFilter['status']): Prisma.Sql | undefined {
  if (status === undefined) return undefined;
  if (status === 'ok') return Prisma.sql`(status IS NULL OR status < ${ERROR_MIN})`;
  if (status === 'error') return Prisma.sql`${IN_ERROR_INDEX} AND status <> ${LEFT}`;
  if (status === 'cancelled' || status === LEFT)
    return Prisma.sql`${IS_CANCELLED} AND ${IN_ERROR_INDEX}`;
  const isStatus = Prisma.sql`status = ${status}`;
  return isAboveOk(status) ? Prisma.sql`${isStatus} AND ${IN_ERROR_INDEX}` : isStatus;
}

function failedStatusThat(status: RequestFilter['status']): Prisma.Sql | undefined {
  if (status === 'error') return Prisma.sql`status <> ${LEFT}`;
  if (status === 'cancelled') return IS_CANCELLED;
  return typeof status === 'number' ? Prisma.sql`status = ${status}` : undefined;
}

function meteredErrorThat(code: string | undefined): Prisma.Sql | undefined {
  if (code === undefined) return undefined;
  return code === 'client_left'
    ? Prisma.sql`${IS_CANCELLED} AND ${IN_ERROR_INDEX}`
    : Prisma.sql`status <> ${LEFT} AND ${IN_ERROR_INDEX}`;
}

function allOf(conditions: readonly (Prisma.Sql | undefined)[]): Prisma.Sql {
  const given = conditions.filter((condition) => condition !== undefined);
  return given.length === 0 ? Prisma.sql`true` : Prisma.join(given, ' AND ');
}
