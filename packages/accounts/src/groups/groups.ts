import { ServiceError } from '@model-gateway/contracts';
import { newId } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { User, UserStore } from '../users/user-store.ts';
import { groupNotFound } from './group-access.ts';
import type { Group, GroupChanges, GroupPage, GroupStore } from './group-store.ts';

/** Groups: users who share a pool of points, keys and model rules. An undefined caller has the admin token. */
export interface Groups {
  /** With an id, repeating the call returns the existing group. */
  create(
    caller: User | undefined,
    request: {
      readonly name: string;
      readonly description?: string | undefined;
      readonly id?: string | undefined;
    },
  ): Promise<Group>;
  list(caller: User | undefined, page: GroupPage): Promise<readonly Group[]>;
  update(caller: User, groupId: string, changes: GroupChanges): Promise<Group>;
  delete(groupId: string): Promise<void>;
}

interface GroupsDependencies {
  readonly groups: GroupStore;
  readonly users: Pick<UserStore, 'findOldestAdmin'>;
  readonly events: AccountEvents;
}

const OWNED_MAX = 1_000;

export function createGroups(dependencies: GroupsDependencies): Groups {
  const { groups, users, events } = dependencies;

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
      await groups.create({ id, ownerId: owner.id, name, description }, OWNED_MAX);
      const group = await groups.find(id, owner.id);
      if (group?.ownerId === owner.id) return group;
      throw new ServiceError('group_id_taken', 'group id already in use');
    },

    list: (caller, page) =>
      caller === undefined ? groups.listAll(page) : groups.listOf(caller.id, page),

    async update(caller, groupId, changes) {
      await groups.update(groupId, changes);
      await events.changed({ kind: 'group', groupId });
      const group = await groups.find(groupId, caller.id);
      if (group === undefined) throw groupNotFound();
      return group;
    },

    async delete(groupId) {
      await groups.delete(groupId);
      await events.changed({ kind: 'group', groupId });
    },
  };
}
