import { ServiceError } from '@model-gateway/contracts';
import type { User } from '../users/user-store.ts';
import type { Group, GroupStore } from './group-store.ts';
import { permissionFor, permissionHint, type GroupAction } from './permissions.ts';

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

/** The same error for a missing group and for one that the caller may not see. */
export const groupNotFound = (): ServiceError => new ServiceError('not_found', 'group not found');
