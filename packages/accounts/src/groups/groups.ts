import { ServiceError } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { User, UserStore } from '../users/user-store.ts';
import { groupNotFound, type GroupAccess } from './group-access.ts';
import type { Group, GroupChanges, GroupStore } from './group-store.ts';
import type { Member, MemberStore } from './member-store.ts';

/** Groups: people who share a pool of points, keys and model rules. An undefined caller came with the admin token. */
export interface Groups {
  /** With an id, repeating the call answers the group that is there. */
  create(
    caller: User | undefined,
    request: {
      readonly name: string;
      readonly description?: string | undefined;
      readonly id?: string | undefined;
    },
  ): Promise<Group>;
  list(caller: User | undefined): Promise<readonly Group[]>;
  get(
    caller: User,
    groupId: string,
  ): Promise<{ readonly group: Group; readonly members: readonly Member[] }>;
  update(caller: User, groupId: string, changes: GroupChanges): Promise<Group>;
  delete(caller: User, groupId: string): Promise<void>;
}

interface GroupsDependencies {
  readonly access: GroupAccess;
  readonly groups: GroupStore;
  readonly members: MemberStore;
  readonly users: Pick<UserStore, 'findOldestAdmin'>;
  readonly events: AccountEvents;
}

export function createGroups(dependencies: GroupsDependencies): Groups {
  const { access, groups, members, users, events } = dependencies;

  async function oldestAdmin(): Promise<User> {
    const admin = await users.findOldestAdmin();
    if (admin !== undefined) return admin;
    throw new ServiceError(
      'not_found',
      'there is no admin account yet that could own the group: register the first account',
    );
  }

  return {
    async create(caller, { name, description = '', id = newId() }) {
      const owner = caller ?? (await oldestAdmin());
      await groups.create({ id, ownerId: owner.id, name, description });
      const group = await groups.find(id, owner.id);
      if (group?.ownerId === owner.id) return group;
      throw new ServiceError('group_id_taken', 'group id already in use');
    },

    list: (caller) => (caller === undefined ? groups.listAll() : groups.listOf(caller.id)),

    async get(caller, groupId) {
      const group = await access.enter(caller, groupId, 'group.get');
      return { group, members: await members.list(groupId) };
    },

    async update(caller, groupId, changes) {
      const { id } = await access.enter(caller, groupId, 'group.update');
      await groups.update(id, changes);
      await events.changed({ kind: 'group', groupId: id });
      const group = await groups.find(id, caller.id);
      if (group === undefined) throw groupNotFound();
      return group;
    },

    async delete(caller, groupId) {
      const { id } = await access.enter(caller, groupId, 'group.delete');
      await groups.delete(id);
      await events.changed({ kind: 'group', groupId: id });
    },
  };
}
