import { ServiceError } from '@model-gateway/contracts';
import type { AccountEvents } from '../changes/account-events.ts';
import type { User, UserStore } from '../users/user-store.ts';
import { groupNotFound } from './group-access.ts';
import type { Group } from './group-store.ts';
import type { Member, MemberChanges, MemberPage, MemberStore } from './member-store.ts';

/** The members of a group and their roles. Members are named by their email. */
export interface GroupMembers {
  list(groupId: string, page: MemberPage): Promise<readonly Member[]>;
  /** Adds a user with an account; updates and reactivates an existing member. */
  add(
    caller: User,
    group: Pick<Group, 'id' | 'ownerId'>,
    email: string,
    changes: Omit<MemberChanges, 'isActive'>,
  ): Promise<Member>;
  update(caller: User, groupId: string, email: string, changes: MemberChanges): Promise<Member>;
  remove(groupId: string, email: string): Promise<void>;
}

interface GroupMembersDependencies {
  readonly members: MemberStore;
  readonly users: Pick<UserStore, 'findByEmail'>;
  readonly events: AccountEvents;
  /** Only platform admins may give a lower cost multiplier. */
  readonly multiplierMin: number;
}

export function createGroupMembers(dependencies: GroupMembersDependencies): GroupMembers {
  const { members, users, events, multiplierMin } = dependencies;

  /** A group admin with a multiplier of 0 would use the pool of the group for free. */
  function refuseLowMultiplier(caller: User, { costMultiplier }: MemberChanges): void {
    if (costMultiplier === undefined || costMultiplier >= multiplierMin || caller.isAdmin) return;
    throw new ServiceError(
      'admin_required',
      `cost_multiplier must be at least ${multiplierMin}: only platform admins may give a lower one`,
    );
  }

  async function memberCalled(groupId: string, email: string): Promise<Member> {
    const member = await members.find(groupId, email);
    if (member === undefined) throw memberNotFound();
    return member;
  }

  return {
    list: (groupId, page) => members.list(groupId, page),

    async add(caller, { id, ownerId }, email, changes) {
      refuseLowMultiplier(caller, changes);
      const found = await users.findByEmail(email);
      if (found === undefined) throw new ServiceError('not_found', 'user not found');
      const userId = found.user.id;
      if (userId === ownerId) protectOwner(changes);
      const member = await members.save(id, userId, changes);
      if (member === undefined) throw groupNotFound();
      await events.changed({ kind: 'member', groupId: id, userId });
      return member;
    },

    async update(caller, id, email, changes) {
      refuseLowMultiplier(caller, changes);
      const { userId, isOwner } = await memberCalled(id, email);
      if (isOwner) protectOwner(changes);
      const member = await members.update(id, userId, changes);
      if (member === undefined) throw memberNotFound();
      await events.changed({ kind: 'member', groupId: id, userId });
      return member;
    },

    async remove(id, email) {
      const { userId, isOwner } = await memberCalled(id, email);
      if (isOwner) throw ownerProtected('removed');
      if (!(await members.remove(id, userId))) throw memberNotFound();
      await events.changed({ kind: 'member', groupId: id, userId });
    },
  };
}

/** The owner always stays an active admin. */
function protectOwner(changes: MemberChanges): void {
  if (changes.isActive === false) throw ownerProtected('deactivated');
  if (changes.role === 'member') throw ownerProtected('made an ordinary member');
}

const ownerProtected = (change: string): ServiceError =>
  new ServiceError('member_protected', `the owner of the group cannot be ${change}`);

const memberNotFound = (): ServiceError => new ServiceError('not_found', 'member not found');
