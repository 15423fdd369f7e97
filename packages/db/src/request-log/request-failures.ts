import type { FailedRequest } from '@model-gateway/contracts';
import type { RawQueries } from '../connection/connection.ts';
import { storableJson, storableText } from '../connection/storable-text.ts';
import { Prisma } from '../generated/client.ts';
import { erasedUser } from './erased-user.ts';

const text = (value: string | null): string | null => (value === null ? null : storableText(value));

/** Returns those that were not stored before; of several with one id, the first is stored. */
export async function insertFailures(
  queries: RawQueries,
  failures: readonly FailedRequest[],
): Promise<readonly FailedRequest[]> {
  const column = <Value>(pick: (failure: FailedRequest) => Value): Value[] => failures.map(pick);
  const rows = await queries.$queryRaw<{ readonly id: string }[]>`
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
  const added = new Set(rows.map(({ id }) => id));
  return failures.filter(({ id }) => added.delete(id));
}
