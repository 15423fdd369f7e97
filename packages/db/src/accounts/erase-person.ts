import type { Queries, RawQueries } from '../connection/connection.ts';
import { LONG_QUERY } from '../connection/long-queries.ts';
import { Prisma } from '../generated/client.ts';

interface Person {
  readonly id: string;
  readonly email: string;
  /**
   * Gets the groups of the person that have no other active admin. If it is undefined, or the person, another platform admin
   * gets them.
   */
  readonly successorId: string | undefined;
  readonly now: Date;
}

/** Not an argon2 hash, so that no password matches. */
const NO_PASSWORD = '';
const ERASED = 'erased';
const ERASED_DOMAIN = '@erased.invalid';

/** Whether the address is one of those that erased accounts get, so that no one else may have it. */
export const isErasedAddress = (email: string): boolean => email.endsWith(ERASED_DOMAIN);

/**
 * Removes what describes a person, inside a transaction; `eraseContent` follows. Usage, ledger, key ids and the row of the
 * account stay: the bill refers to them.
 */
export async function erasePerson(queries: Queries, person: Person): Promise<void> {
  const { id: userId, email, now } = person;
  await queries.apiKey.updateMany({ where: { userId, revokedAt: null }, data: { revokedAt: now } });
  await queries.apiKey.updateMany({
    where: { userId },
    data: { name: ERASED, keyHint: '', metadata: Prisma.DbNull, addresses: [] },
  });
  await leaveGroups(queries, person);
  await queries.groupInvitation.deleteMany({ where: { email } });
  await queries.memoryEvent.deleteMany({ where: { userId } });
  await cancelVideos(queries, userId);
  // Events that wait for a receiver are still sent, mails to the person are not.
  await queries.eventDelivery.deleteMany({ where: { userId } });
  await queries.signInAddress.deleteMany({ where: { userId } });
  await queries.passwordReset.deleteMany({ where: { userId } });
  await queries.refreshToken.deleteMany({ where: { userId } });
  await queries.providerIdentity.deleteMany({ where: { userId } });
  await queries.user.update({
    where: { id: userId },
    data: {
      email: `erased-${userId}${ERASED_DOMAIN}`,
      name: '',
      passwordHash: NO_PASSWORD,
      isActive: false,
      isAdmin: false,
      providerClaim: false,
      erasedAt: now,
    },
    select: { id: true },
  });
}

/** A group goes on without the person: its oldest active admin becomes the owner, else the successor, else another platform admin. */
export async function leaveGroups(
  queries: Queries,
  { id, successorId }: Pick<Person, 'id' | 'successorId'>,
): Promise<void> {
  // Members may come and go until the groups are locked.
  await queries.$executeRaw`
    SELECT 1 FROM groups WHERE owner_id = ${id}::uuid ORDER BY id FOR UPDATE`;
  const owned = await queries.$queryRaw<{ id: string; nextOwnerId: string | null }[]>`
    SELECT g.id, COALESCE(
      (SELECT m.user_id FROM group_members m JOIN users u ON u.id = m.user_id
        WHERE m.group_id = g.id AND m.user_id <> ${id}::uuid
          AND m.role = 'admin' AND m.is_active AND u.is_active
        ORDER BY m.joined_at, m.user_id LIMIT 1),
      NULLIF(${successorId ?? null}::uuid, ${id}::uuid),
      (SELECT u.id FROM users u
        WHERE u.is_admin AND u.is_active AND u.id <> ${id}::uuid
        ORDER BY u.created_at, u.id LIMIT 1)
    ) AS "nextOwnerId"
    FROM groups g WHERE g.owner_id = ${id}::uuid`;
  for (const { id: groupId, nextOwnerId: ownerId } of owned) {
    if (ownerId === null) continue;
    await queries.groupMember.upsert({
      where: { groupId_userId: { groupId, userId: ownerId } },
      create: { groupId, userId: ownerId, role: 'admin' },
      update: { role: 'admin', isActive: true },
      select: { groupId: true },
    });
    await queries.group.update({
      where: { id: groupId },
      data: { ownerId },
      select: { id: true },
    });
  }
  await queries.groupMember.deleteMany({ where: { userId: id, group: { ownerId: { not: id } } } });
}

/** Workers ask the upstreams of cancelled jobs to cancel them. */
async function cancelVideos(queries: Queries, userId: string): Promise<void> {
  await queries.$executeRaw`
    DELETE FROM video_job_images WHERE job_id IN (SELECT id FROM video_jobs WHERE user_id = ${userId}::uuid)`;
  await queries.$executeRaw`
    UPDATE video_jobs SET
      status = 'cancelled', finished_at = clock_timestamp(), updated_at = clock_timestamp(),
      cancel_pending = upstream_task_id IS NOT NULL
    WHERE user_id = ${userId}::uuid AND status IN ('queued', 'running')`;
}

/**
 * Removes what an erased person, or an upstream for them, wrote. That can be millions of rows, more than a transaction has
 * time for, so each statement is by itself, and passes over what an interrupted call has done.
 */
export async function eraseContent(queries: RawQueries, userId: string): Promise<void> {
  for (const table of ['conversations', 'stored_responses', 'request_bodies'])
    await queries.$executeRaw`
      ${LONG_QUERY} DELETE FROM ${Prisma.raw(table)} WHERE user_id = ${userId}::uuid`;
  await eraseVideos(queries, userId);
  await queries.$executeRaw`
    ${LONG_QUERY} UPDATE request_details SET request_id = NULL
    WHERE user_id = ${userId}::uuid AND request_id IS NOT NULL`;
  // Failed requests stay counted.
  await queries.$executeRaw`
    ${LONG_QUERY} UPDATE request_failures SET request_id = NULL, error = '', model = NULL, ref_id = NULL
    WHERE user_id = ${userId}::uuid
      AND (request_id IS NOT NULL OR error <> '' OR model IS NOT NULL OR ref_id IS NOT NULL)`;
  await queries.$executeRaw`
    ${LONG_QUERY} UPDATE outbox_events SET data = data
      || CASE WHEN data -> 'key_name' IS NOT NULL THEN jsonb_build_object('key_name', ${ERASED}::text) ELSE '{}' END
      || CASE WHEN data -> 'error' IS NOT NULL THEN jsonb_build_object('error', ${ERASED}::text) ELSE '{}' END
    WHERE data ->> 'user_id' = ${userId}`;
}

/** What stays of a job is what its price depends on. */
async function eraseVideos(queries: RawQueries, userId: string): Promise<void> {
  await queries.$executeRaw`
    ${LONG_QUERY} UPDATE video_jobs SET
      request = jsonb_strip_nulls((request - 'negative_prompt' - 'extra') || jsonb_build_object(
        'prompt', ${ERASED}::text,
        'extra', jsonb_build_object('frames', request #> '{extra,frames}'))),
      result = NULL, error = NULL, idempotency_key = NULL
    WHERE user_id = ${userId}::uuid`;
}
