import type { FailedRequest, RequestLogStore } from '@model-gateway/billing';
import type { Connection, RawQueries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { storableJson, storableText } from '../connection/storable-text.ts';
import { countLines } from '../usage/kept-lines.ts';
import { shareSettlementLock } from '../usage/settlement-lock.ts';
import { linesOfFailures } from '../usage/usage-lines.ts';
import { erasedUser } from './erased-user.ts';

const DAY_MS = 86_400_000;

/** What the request log has besides the usage rows, in Postgres. */
export function createPostgresRequestLogStore(connection: Connection): RequestLogStore {
  return {
    addFailures: (failures) =>
      connection.rawTransaction(async (queries) => {
        await shareSettlementLock(queries);
        const added = await insertFailures(queries, failures);
        // Of several with one id, the first is stored.
        await countLines(queries, linesOfFailures(failures.filter(({ id }) => added.delete(id))));
      }),

    addBodies: (bodies) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          INSERT INTO request_bodies (id, created_at, user_id, request, answer)
          SELECT body.* FROM unnest(
            ${bodies.map(({ id }) => id)}::uuid[],
            ${bodies.map(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
            ${bodies.map(({ userId }) => userId)}::uuid[],
            ${bodies.map(({ request }) => text(request))}::text[],
            ${bodies.map(({ answer }) => text(answer))}::text[]
          ) AS body (id, created_at, user_id, request, answer)
          WHERE NOT EXISTS (${erasedUser(Prisma.sql`body`)})
          ON CONFLICT DO NOTHING`;
      }),

    removeRows: (before, limit) =>
      connection.run(async (queries) => {
        const day = new Date(Math.floor(before.getTime() / DAY_MS) * DAY_MS);
        // Before the rows go, so that a check of the sums never misses rows that it expects.
        await queries.$executeRaw`
          UPDATE request_log_state SET kept_since = ${day}::timestamptz
          WHERE kept_since IS NULL OR kept_since < ${day}::timestamptz`;
        const failures = await queries.$executeRaw`
          DELETE FROM request_failures WHERE id IN (
            SELECT id FROM request_failures WHERE created_at < ${day}::timestamptz
            ORDER BY created_at DESC, id LIMIT ${limit})`;
        const details = await queries.$executeRaw`
          DELETE FROM request_details WHERE id IN (
            SELECT id FROM request_details WHERE created_at < ${day}::timestamptz LIMIT ${limit})`;
        return failures + details;
      }),

    removeBodies: (before, limit) =>
      connection.run(
        (queries) => queries.$executeRaw`
          DELETE FROM request_bodies WHERE id IN (
            SELECT id FROM request_bodies WHERE created_at < ${before}::timestamptz LIMIT ${limit})`,
      ),
  };
}

const text = (value: string | null): string | null => (value === null ? null : storableText(value));

/** Answers the ids of those that were not stored before. */
async function insertFailures(
  queries: RawQueries,
  failures: readonly FailedRequest[],
): Promise<Set<string>> {
  const column = <Value>(pick: (failure: FailedRequest) => Value): Value[] => failures.map(pick);
  const added = await queries.$queryRaw<{ readonly id: string }[]>`
    INSERT INTO request_failures (
      id, created_at, user_id, key_id, group_id, api_key_id, project, backend, model, counted_model, upstream, ref_id,
      latency_ms, status, error_code, error, request_id, attempts, repeats
    )
    SELECT
      id, created_at, user_id, key_id, group_id, api_key_id, project, backend,
      CASE WHEN is_erased THEN NULL ELSE model END, counted_model, upstream, CASE WHEN is_erased THEN NULL ELSE ref_id END,
      latency_ms, status, error_code, CASE WHEN is_erased THEN '' ELSE error END,
      CASE WHEN is_erased THEN NULL ELSE request_id END, attempts, repeats
    FROM unnest(
      ${column(({ id }) => id)}::uuid[],
      ${column(({ createdAt }) => createdAt.toISOString())}::timestamptz[],
      ${column(({ userId }) => userId)}::uuid[],
      ${column(({ keyId }) => keyId)}::uuid[],
      ${column(({ groupId }) => groupId)}::uuid[],
      ${column(({ apiKeyId }) => storableText(apiKeyId))}::text[],
      ${column(({ project }) => text(project))}::text[],
      ${column(({ backend }) => backend)}::text[],
      ${column(({ model }) => text(model))}::text[],
      ${column(({ countedModel }) => storableText(countedModel))}::text[],
      ${column(({ upstream }) => text(upstream))}::text[],
      ${column(({ refId }) => text(refId))}::text[],
      ${column(({ latencyMs }) => latencyMs)}::integer[],
      ${column(({ status }) => status)}::integer[],
      ${column(({ errorCode }) => errorCode)}::text[],
      ${column(({ error }) => storableText(error))}::text[],
      ${column(({ requestId }) => requestId)}::text[],
      ${column(({ attempts }) => (attempts === null ? null : storableJson(attempts)))}::jsonb[],
      ${column(({ repeats }) => repeats)}::integer[]
    ) AS failure (
      id, created_at, user_id, key_id, group_id, api_key_id, project, backend, model, counted_model, upstream, ref_id,
      latency_ms, status, error_code, error, request_id, attempts, repeats
    )
    CROSS JOIN LATERAL (SELECT EXISTS (${erasedUser(Prisma.sql`failure`)}) AS is_erased) AS account
    ON CONFLICT DO NOTHING
    RETURNING id`;
  return new Set(added.map(({ id }) => id));
}
