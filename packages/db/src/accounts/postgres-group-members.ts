import type { Member, MemberStore } from '@model-gateway/accounts';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { holdGroup } from './postgres-groups.ts';

/** In one statement: the group may be deleted between two. */
const SHOWN = Prisma.sql`
  SELECT
    m.user_id AS "userId", m.role, m.cost_multiplier AS "costMultiplier", m.is_active AS "isActive",
    m.joined_at AS "joinedAt", u.email, u.name, g.owner_id = m.user_id AS "isOwner"
  FROM group_members m JOIN users u ON u.id = m.user_id JOIN groups g ON g.id = m.group_id`;

/** Memberships in Postgres. */
export function createPostgresGroupMembers(connection: Connection): MemberStore {
  return {
    list: (groupId, { after, countMax }) =>
      connection.run(async (queries) => {
        const cursor = after === undefined ? undefined : await findCursor(queries, groupId, after);
        if (after !== undefined && cursor === undefined) return [];
        const others = await queries.$queryRaw<Member[]>`
          ${SHOWN} WHERE m.group_id = ${groupId}::uuid AND m.is_active AND g.owner_id <> m.user_id
            ${cursor === undefined || cursor.isOwner ? Prisma.empty : listedAfter(cursor)}
          ORDER BY m.joined_at, m.user_id LIMIT ${countMax}`;
        if (cursor !== undefined) return others;
        const owner = await queries.$queryRaw<Member[]>`
          ${SHOWN} WHERE m.group_id = ${groupId}::uuid AND m.is_active AND g.owner_id = m.user_id`;
        return [...owner, ...others].slice(0, countMax);
      }),

    find: (groupId, email) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<Member[]>`
          ${SHOWN} WHERE m.group_id = ${groupId}::uuid AND u.email = ${email}`;
        return rows[0];
      }),

    save: (groupId, userId, { role = null, costMultiplier = null }) =>
      connection.transaction(async (queries) => {
        if (!(await holdGroup(queries, groupId))) return undefined;
        await queries.$executeRaw`
          INSERT INTO group_members AS known (group_id, user_id, role, cost_multiplier)
          VALUES (${groupId}::uuid, ${userId}::uuid, COALESCE(${role}::text, 'member'), COALESCE(${costMultiplier}::float8, 1))
          ON CONFLICT (group_id, user_id) DO UPDATE
          SET role = COALESCE(${role}::text, known.role),
            cost_multiplier = COALESCE(${costMultiplier}::float8, known.cost_multiplier),
            is_active = true,
            updated_at = now()`;
        return findById(queries, groupId, userId);
      }),

    update: (groupId, userId, { role, costMultiplier, isActive }) =>
      connection.transaction(async (queries) => {
        await holdGroup(queries, groupId);
        // The member may have become the owner meanwhile.
        const ofOwner = role === 'member' || isActive === false ? notOfOwner(userId) : {};
        const { count } = await queries.groupMember.updateMany({
          where: { groupId, userId, ...ofOwner },
          data: {
            ...(role === undefined ? {} : { role }),
            ...(costMultiplier === undefined ? {} : { costMultiplier }),
            ...(isActive === undefined ? {} : { isActive }),
          },
        });
        if (count === 0) return undefined;
        return findById(queries, groupId, userId);
      }),

    remove: (groupId, userId) =>
      connection.transaction(async (queries) => {
        // A deletion of the group would lock the same rows in another order.
        if (!(await holdGroup(queries, groupId))) return false;
        // Locked in the same order as by a user who joins: otherwise both transactions could wait for each other.
        const open = await queries.$queryRaw<{ id: string }[]>`
          SELECT id FROM group_invitations
          WHERE group_id = ${groupId}::uuid AND uses < max_uses AND expires_at > now()
          ORDER BY id FOR UPDATE`;
        const { count } = await queries.groupMember.deleteMany({
          where: { groupId, userId, ...notOfOwner(userId) },
        });
        if (count === 0) return false;
        await queries.apiKey.updateMany({
          where: { groupId, userId, revokedAt: null },
          data: { revokedAt: new Date() },
        });
        // Otherwise the member could join again with an invitation that was made for others.
        await queries.groupInvitation.updateMany({
          where: { id: { in: open.map(({ id }) => id) } },
          data: { removedUserIds: { push: userId } },
        });
        return true;
      }),
  };
}

/** The time is a text, because a date has no microseconds. */
interface Cursor {
  readonly userId: string;
  readonly joinedAt: string;
  readonly isOwner: boolean;
}

async function findCursor(
  queries: Queries,
  groupId: string,
  email: string,
): Promise<Cursor | undefined> {
  const rows = await queries.$queryRaw<Cursor[]>`
    SELECT m.user_id AS "userId", m.joined_at::text AS "joinedAt", g.owner_id = m.user_id AS "isOwner"
    FROM group_members m JOIN users u ON u.id = m.user_id JOIN groups g ON g.id = m.group_id
    WHERE m.group_id = ${groupId}::uuid AND u.email = ${email}`;
  return rows[0];
}

const listedAfter = ({ joinedAt, userId }: Cursor): Prisma.Sql =>
  Prisma.sql`AND (m.joined_at, m.user_id) > (${joinedAt}::timestamptz, ${userId}::uuid)`;

const notOfOwner = (userId: string) =>
  ({ group: { ownerId: { not: userId } } }) satisfies Prisma.GroupMemberWhereInput;

async function findById(
  queries: Queries,
  groupId: string,
  userId: string,
): Promise<Member | undefined> {
  const rows = await queries.$queryRaw<Member[]>`
    ${SHOWN} WHERE m.group_id = ${groupId}::uuid AND m.user_id = ${userId}::uuid`;
  return rows[0];
}
