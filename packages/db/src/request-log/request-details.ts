import type { RequestAttempt, UsageEvent } from '@model-gateway/contracts';
import type { Queries, RawQueries } from '../connection/connection.ts';
import { storableJson } from '../connection/storable-text.ts';
import { Prisma } from '../generated/client.ts';
import { erasedUser } from './erased-user.ts';

/** What the request log has of a metered request besides its row. */
export interface RequestDetails {
  readonly requestId: string | null;
  readonly attempts: readonly RequestAttempt[] | null;
}

/** Stores what few requests have: an id of the client, or more than one attempt. */
export async function insertRequestDetails(
  queries: RawQueries,
  events: readonly UsageEvent[],
): Promise<void> {
  const detailed = events.filter(
    ({ request_id, attempts }) => (request_id ?? null) !== null || (attempts ?? null) !== null,
  );
  if (detailed.length === 0) return;
  await queries.$executeRaw`
    INSERT INTO request_details (id, created_at, user_id, request_id, attempts)
    SELECT
      id, created_at, user_id,
      CASE WHEN EXISTS (${erasedUser(Prisma.sql`detail`)}) THEN NULL ELSE request_id END, attempts
    FROM unnest(
      ${detailed.map(({ id }) => id)}::uuid[],
      ${detailed.map(({ created_at }) => created_at)}::timestamptz[],
      ${detailed.map(({ user_id }) => user_id)}::uuid[],
      ${detailed.map(({ request_id }) => request_id ?? null)}::text[],
      ${detailed.map(({ attempts }) => (attempts ? storableJson(attempts) : null))}::jsonb[]
    ) AS detail (id, created_at, user_id, request_id, attempts)
    ON CONFLICT DO NOTHING`;
}

/** The details of the requests that have some, by id. */
export async function readRequestDetails(
  queries: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RequestDetails>> {
  if (ids.length === 0) return new Map();
  const rows = await queries.$queryRaw<(RequestDetails & { readonly id: string })[]>`
    SELECT id, request_id AS "requestId", attempts FROM request_details WHERE id = ANY(${[...ids]}::uuid[])`;
  return new Map(rows.map(({ id, ...details }) => [id, details]));
}
