import type { Member, MemberStore } from '@model-gateway/accounts';
import type { Connection, Queries } from '../connection/connection.ts';
import type { Prisma } from '../generated/client.ts';
import { holdGroup } from './postgres-groups.ts';

const shown = {
  userId: true,
  role: true,
  costMultiplier: true,
  isActive: true,
  joinedAt: true,
  user: { select: { email: true, name: true } },
  group: { select: { ownerId: true } },
} satisfies Prisma.GroupMemberSelect;

/** Memberships in Postgres. */
export function createPostgresGroupMembers(connection: Connection): MemberStore {
  return {
    list: (groupId) =>
      connection.run(async (queries) => {
        const rows = await queries.groupMember.findMany({
          where: { groupId, isActive: true },
          orderBy: [{ joinedAt: 'asc' }, { userId: 'asc' }],
          select: shown,
        });
        const members = rows.map(toMember);
        return [...members.filter(isOwner), ...members.filter((member) => !isOwner(member))];
      }),

    find: (groupId, email) =>
      connection.run(async (queries) => {
        const row = await queries.groupMember.findFirst({
          where: { groupId, user: { email } },
          select: shown,
        });
        return row === null ? undefined : toMember(row);
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
        const { count } = await queries.groupMember.deleteMany({
          where: { groupId, userId, ...notOfOwner(userId) },
        });
        if (count === 0) return false;
        await queries.apiKey.updateMany({
          where: { groupId, userId, revokedAt: null },
          data: { revokedAt: new Date() },
        });
        return true;
      }),
  };
}

const notOfOwner = (userId: string) =>
  ({ group: { ownerId: { not: userId } } }) satisfies Prisma.GroupMemberWhereInput;

async function findById(
  queries: Queries,
  groupId: string,
  userId: string,
): Promise<Member | undefined> {
  const where = { groupId_userId: { groupId, userId } };
  const row = await queries.groupMember.findUnique({ where, select: shown });
  return row === null ? undefined : toMember(row);
}

type MemberRow = Prisma.GroupMemberGetPayload<{ select: typeof shown }>;

function toMember({ user, group, role, ...member }: MemberRow): Member {
  return {
    ...member,
    ...user,
    role: role === 'admin' ? 'admin' : 'member',
    isOwner: member.userId === group.ownerId,
  };
}

const isOwner = (member: Member): boolean => member.isOwner;
