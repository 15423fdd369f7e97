import { ServiceError } from '@model-gateway/contracts';
import type { User } from '../users/user-store.ts';
import type { Group, GroupStore } from './group-store.ts';
import { permissionFor, permissionHint, type GroupAction } from './permissions.ts';

/** Decides who may do what to a group. */
export interface GroupAccess {
  /** The group as the caller sees it. Rejects when the caller may not do this; without a role the group is not found. */
  authorize(caller: User, groupId: string, action: GroupAction): Promise<Group>;
}

export function createGroupAccess(groups: GroupStore): GroupAccess {
  return {
    async authorize(caller, groupId, action) {
      const group = await groups.find(groupId, caller.id);
      if (group === undefined) throw groupNotFound();
      const standing = { role: group.viewerRole, isPlatformAdmin: caller.isAdmin };
      switch (permissionFor(action, standing)) {
        case 'granted':
          return group;
        case 'forbidden':
          throw new ServiceError('admin_required', permissionHint(action));
        case 'hidden':
          throw groupNotFound();
      }
    },
  };
}

/** The same refusal for a group that is not there and for one that is none of the caller's business. */
export const groupNotFound = (): ServiceError => new ServiceError('not_found', 'group not found');
