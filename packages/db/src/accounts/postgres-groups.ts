import type { Group, GroupPage, GroupRole, GroupStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection, Queries } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { emptyGroupPool } from '../billing/group-pool.ts';
import { lockUser } from './lock-user.ts';

const oldestFirst = [
  { createdAt: 'asc' },
  { id: 'asc' },
] satisfies Prisma.GroupOrderByWithRelationInput[];

export function createPostgresGroups(connection: Connection): GroupStore {
  return {
    create: ({ id, ownerId, name, description }, ownedMax) =>
      connection.transaction(async (queries) => {
        // Someone who is being erased gets no group.
        await lockUser(queries, ownerId);
        // Of concurrent inserts with the same id one succeeds; the others wait for it and then do nothing.
        const made = await queries.$executeRaw`
          INSERT INTO groups (id, owner_id, name, description)
          VALUES (${id}::uuid, ${ownerId}::uuid, ${name}, ${description})
          ON CONFLICT (id) DO NOTHING`;
        if (made === 0) return false;
        if (ownedMax !== undefined) await assertOwnsAtMost(queries, ownerId, ownedMax);
        if (await hasHistory(queries, id))
          throw new ServiceError('group_id_taken', 'group id already in use');
        await queries.groupMember.create({
          data: { groupId: id, userId: ownerId, role: 'admin' },
          select: { groupId: true },
        });
        return true;
      }),

    find: (groupId, viewerId) =>
      connection.run(async (queries) => {
        const include = seenBy(viewerId);
        const row = await queries.group.findUnique({ where: { id: groupId }, include });
        return row === null ? undefined : toGroup(row);
      }),

    listOf: (userId, page) =>
      connection.run(async (queries) => {
        const ids = await queries.$queryRaw<{ id: string }[]>`
          SELECT g.id FROM group_members m JOIN groups g ON g.id = m.group_id
          WHERE m.user_id = ${userId}::uuid AND m.is_active ${afterOwn(userId, page)} ${pageOf(page)}`;
        return readGroups(queries, ids, userId);
      }),

    listAll: (page) =>
      connection.run(async (queries) => {
        const ids = await queries.$queryRaw<{ id: string }[]>`
          SELECT g.id FROM groups g WHERE TRUE ${pageOf(page)}`;
        return readGroups(queries, ids, null);
      }),

    update: (groupId, { name, description, enforceModelAllowlist, rpmCeiling }) =>
      connection.run(async (queries) => {
        await queries.group.updateMany({
          where: { id: groupId },
          data: {
            ...(name === undefined ? {} : { name }),
            ...(description === undefined ? {} : { description }),
            ...(enforceModelAllowlist === undefined ? {} : { enforceModelAllowlist }),
            ...(rpmCeiling === undefined ? {} : { rpmCeiling }),
          },
        });
      }),

    delete: (groupId) =>
      connection.transaction(async (queries) => {
        const group = await lockForDeletion(queries, groupId);
        if (group === undefined) return;
        await emptyGroupPool(queries, group);
        // Memberships, invitations and rules cascade; keys are detached.
        await queries.group.delete({ where: { id: groupId }, select: { id: true } });
      }),
  };
}

const pageOf = ({ after, countMax }: GroupPage): Prisma.Sql => Prisma.sql`
  ${after === undefined ? Prisma.empty : listedAfter(after)}
  ORDER BY g.created_at, g.id LIMIT ${countMax}`;

/** A group that the user is not in is followed by nothing, as one that does not exist. */
const afterOwn = (userId: string, { after }: GroupPage): Prisma.Sql =>
  after === undefined
    ? Prisma.empty
    : Prisma.sql`AND EXISTS (
        SELECT 1 FROM group_members
        WHERE group_id = ${after}::uuid AND user_id = ${userId}::uuid AND is_active)`;

const listedAfter = (groupId: string): Prisma.Sql =>
  Prisma.sql`AND (g.created_at, g.id) > (SELECT created_at, id FROM groups WHERE id = ${groupId}::uuid)`;

async function readGroups(
  queries: Queries,
  ids: readonly { readonly id: string }[],
  viewerId: string | null,
): Promise<readonly Group[]> {
  const rows = await queries.group.findMany({
    where: { id: { in: ids.map(({ id }) => id) } },
    include: seenBy(viewerId),
    orderBy: oldestFirst,
  });
  return rows.map(toGroup);
}

/** Counts the group that was just made as well; the error undoes it. */
async function assertOwnsAtMost(queries: Queries, ownerId: string, max: number): Promise<void> {
  if ((await queries.group.count({ where: { ownerId } })) <= max) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `too many groups: a user owns at most ${max}. Delete one first.`,
  );
}

/** Locks the group, so that it is not deleted before the transaction ends. False when there is no such group. */
export async function holdGroup(queries: Queries, groupId: string): Promise<boolean> {
  const rows = await queries.$queryRaw<unknown[]>`
    SELECT 1 FROM groups WHERE id = ${groupId}::uuid FOR KEY SHARE`;
  return rows.length > 0;
}

/** The same, and no other transaction that does so runs at the same time: to count what the group has. */
export async function lockGroup(queries: Queries, groupId: string): Promise<boolean> {
  const rows = await queries.$queryRaw<unknown[]>`
    SELECT 1 FROM groups WHERE id = ${groupId}::uuid FOR NO KEY UPDATE`;
  return rows.length > 0;
}

/**
 * Whether a deleted group with this id has left usage or points: its bill stays, and a new group with the id must not show it.
 * Also sees a deletion that the insert waited for.
 */
async function hasHistory(queries: Queries, groupId: string): Promise<boolean> {
  const rows = await queries.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger_accounts WHERE owner_type = 'group' AND owner_id = ${groupId}::uuid
    UNION ALL (
      SELECT 1 FROM usage_by_account_day WHERE group_id = ${groupId}::uuid LIMIT 1
    )`;
  return rows.length > 0;
}

async function lockForDeletion(
  queries: Queries,
  groupId: string,
): Promise<{ id: string; ownerId: string; name: string } | undefined> {
  const rows = await queries.$queryRaw<{ id: string; ownerId: string; name: string }[]>`
    SELECT id, owner_id AS "ownerId", name FROM groups WHERE id = ${groupId}::uuid FOR UPDATE`;
  return rows[0];
}

const seenBy = (viewerId: string | null) =>
  ({
    members: {
      where: { userId: { in: viewerId === null ? [] : [viewerId] }, isActive: true },
      select: { userId: true, role: true },
    },
    _count: { select: { members: { where: { isActive: true } } } },
  }) satisfies Prisma.GroupInclude;

type GroupRow = Prisma.GroupGetPayload<{ include: ReturnType<typeof seenBy> }>;

function toGroup({ members, _count, updatedAt: _updatedAt, ...group }: GroupRow): Group {
  return {
    ...group,
    memberCount: _count.members,
    viewerRole: roleOf(members[0], group.ownerId),
  };
}

function roleOf(
  viewer: { readonly userId: string; readonly role: string } | undefined,
  ownerId: string,
): GroupRole | null {
  if (viewer === undefined) return null;
  if (viewer.userId === ownerId) return 'owner';
  return viewer.role === 'admin' ? 'admin' : 'member';
}
