import type { Invitation, InvitationStore, JoinOutcome, Membership } from '@model-gateway/accounts';
import type { Connection, Queries } from '../connection/connection.ts';
import { ServiceError } from '@model-gateway/contracts';
import { holdGroup, lockGroup } from './postgres-groups.ts';

const CLOSED_KEPT_MAX = 1_000;

interface FoundRow extends Invitation {
  /** Null for a user who is no member. */
  readonly isActive: boolean | null;
}

export function createPostgresInvitations(connection: Connection): InvitationStore {
  return {
    create: (invitation, openMax) =>
      connection.transaction(async (queries) => {
        const { groupId } = invitation;
        if (!(await lockGroup(queries, groupId))) return false;
        if (openMax !== undefined) await assertRoomForInvitation(queries, groupId, openMax);
        await removeOldestClosed(queries, groupId);
        await queries.groupInvitation.create({ data: invitation, select: { id: true } });
        return true;
      }),

    find: (tokenHash, userId) =>
      connection.run(async (queries) => {
        // In one statement: the group may be deleted between two.
        const rows = await queries.$queryRaw<FoundRow[]>`
          SELECT i.id, i.group_id AS "groupId", i.role, i.email, i.max_uses AS "maxUses", i.uses,
            i.expires_at AS "expiresAt", m.is_active AS "isActive"
          FROM group_invitations i
          LEFT JOIN group_members m ON m.group_id = i.group_id AND m.user_id = ${userId}::uuid
          WHERE i.token_hash = ${tokenHash}`;
        if (rows[0] === undefined) return undefined;
        const { isActive, ...invitation } = rows[0];
        return { invitation, membership: membershipOf(isActive) };
      }),

    join: (invitation, userId) =>
      connection.transaction((queries) => join(queries, invitation, userId)),
  };
}

async function assertRoomForInvitation(
  queries: Queries,
  groupId: string,
  openMax: number,
): Promise<void> {
  const [row] = await queries.$queryRaw<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM group_invitations
    WHERE group_id = ${groupId}::uuid AND uses < max_uses AND expires_at > now()`;
  if ((row?.count ?? 0) < openMax) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `too many open invitations: at most ${openMax} per group. Wait until some are used or have expired.`,
  );
}

/** Used and expired ones are kept only to tell people why theirs does not work. */
async function removeOldestClosed(queries: Queries, groupId: string): Promise<void> {
  await queries.$executeRaw`
    DELETE FROM group_invitations WHERE id IN (
      SELECT id FROM group_invitations
      WHERE group_id = ${groupId}::uuid AND (uses >= max_uses OR expires_at <= now())
      ORDER BY created_at DESC, id OFFSET ${CLOSED_KEPT_MAX}
    )`;
}

async function join(
  queries: Queries,
  { id, groupId, role }: Invitation,
  userId: string,
): Promise<JoinOutcome> {
  if (!(await holdGroup(queries, groupId))) return 'gone';
  // Other users of this invitation wait here, and then see how many uses are left.
  const [invitation] = await queries.$queryRaw<
    { hasUsesLeft: boolean; wasRemoved: boolean; mayInvite: boolean }[]
  >`
    SELECT i.uses < i.max_uses AS "hasUsesLeft", ${userId}::uuid = ANY (i.removed_user_ids) AS "wasRemoved", EXISTS (
      SELECT 1 FROM users u LEFT JOIN group_members m ON m.group_id = i.group_id AND m.user_id = u.id
      WHERE u.id = i.created_by AND u.is_active AND (u.is_admin OR (m.role = 'admin' AND m.is_active))
    ) AS "mayInvite"
    FROM group_invitations i
    WHERE i.id = ${id}::uuid
    FOR UPDATE OF i`;
  if (invitation === undefined) return 'gone';
  // Otherwise an admin who was removed could come back.
  if (!invitation.mayInvite) return 'withdrawn';
  if (invitation.wasRemoved) return 'removed';
  if (!invitation.hasUsesLeft) return 'used up';
  const joined = await queries.$executeRaw`
    INSERT INTO group_members (group_id, user_id, role)
    VALUES (${groupId}::uuid, ${userId}::uuid, ${role})
    ON CONFLICT (group_id, user_id) DO NOTHING`;
  if (joined === 0) return 'member already';
  await queries.$executeRaw`UPDATE group_invitations SET uses = uses + 1 WHERE id = ${id}::uuid`;
  return 'joined';
}

function membershipOf(isActive: boolean | null): Membership {
  if (isActive === null) return 'none';
  return isActive ? 'active' : 'deactivated';
}
