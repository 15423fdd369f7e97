import { ServiceError } from '@model-gateway/contracts';
import type { User } from '../users/user-store.ts';
import type { Group, GroupStore } from './group-store.ts';
import { permissionFor, permissionHint, type GroupAction } from './permissions.ts';

export interface GroupAccess {
  /** The group as the caller sees it. Rejects when the caller may not do this; without a role the group is not found. */
  authorize(caller: User, groupId: string, action: GroupAction): Promise<Group>;
  /** Rejects unless the caller may read the requests and the spend of a group: its admins, and platform admins. */
  authorizeReading(caller: User, groupId: string): Promise<void>;
  /** Rejects unless the caller may manage the webhooks of a group: its admins, and platform admins. */
  authorizeWebhooks(caller: User, groupId: string): Promise<void>;
}

/** The action with the same required role as reading the money of the group. */
const READING_ACTION = 'group.credits.balance' satisfies GroupAction;
const READING_HINT =
  'the requests and the spend of a group need the admin role in the group: ask one of its admins';

const WEBHOOKS_HINT =
  'the webhooks of a group need the admin role in the group: ask one of its admins';

export function createGroupAccess(groups: GroupStore): GroupAccess {
  async function authorize(
    caller: User,
    groupId: string,
    action: GroupAction,
    hint: string,
  ): Promise<Group> {
    const group = await groups.find(groupId, caller.id);
    if (group === undefined) throw groupNotFound();
    const standing = { role: group.viewerRole, isPlatformAdmin: caller.isAdmin };
    switch (permissionFor(action, standing)) {
      case 'granted':
        return group;
      case 'forbidden':
        throw new ServiceError('admin_required', hint);
      case 'hidden':
        throw groupNotFound();
    }
  }

  return {
    authorize: (caller, groupId, action) =>
      authorize(caller, groupId, action, permissionHint(action)),
    async authorizeReading(caller, groupId) {
      await authorize(caller, groupId, READING_ACTION, READING_HINT);
    },
    async authorizeWebhooks(caller, groupId) {
      await authorize(caller, groupId, READING_ACTION, WEBHOOKS_HINT);
    },
  };
}

/** The same error for a missing group and for one that the caller may not see. */
export const groupNotFound = (): ServiceError => new ServiceError('not_found', 'group not found');
