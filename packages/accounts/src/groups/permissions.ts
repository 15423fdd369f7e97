import type { RpcMethodName } from '@model-gateway/contracts';
import type { GroupRole } from './group-store.ts';

type Requirement = 'member' | 'admin' | 'owner';

/** The role that each call about a group requires. Platform admins may do everything except what only the owner may. */
export const GROUP_REQUIREMENTS = {
  'group.get': 'member',
  'group.update': 'admin',
  'group.delete': 'owner',
  'group.members.list': 'admin',
  'group.members.add': 'admin',
  'group.members.update': 'admin',
  'group.members.remove': 'admin',
  'group.invite.create': 'admin',
  'group.models.list': 'admin',
  'group.models.allow': 'admin',
  'group.models.deny': 'admin',
  'group.credits.topup': 'admin',
  'group.credits.balance': 'admin',
  'group.credits.allocate': 'admin',
} as const satisfies Partial<Record<RpcMethodName, Requirement>>;

export type GroupAction = keyof typeof GROUP_REQUIREMENTS;

/** The relation of a user to a group. */
export interface Standing {
  /** Null for users who are not active members. */
  readonly role: GroupRole | null;
  readonly isPlatformAdmin: boolean;
}

/** `hidden` is for users who may not know that the group exists. */
export type Permission = 'granted' | 'forbidden' | 'hidden';

const RANK = { member: 1, admin: 2, owner: 3 } as const satisfies Record<Requirement, number>;

/** The only place that decides who may do what in a group. */
export function permissionFor(action: GroupAction, standing: Standing): Permission {
  const { role, isPlatformAdmin } = standing;
  const needed = GROUP_REQUIREMENTS[action];
  if (role !== null && RANK[role] >= RANK[needed]) return 'granted';
  if (isPlatformAdmin) return needed === 'owner' ? 'forbidden' : 'granted';
  return role === null ? 'hidden' : 'forbidden';
}

/** Explains to a member what an action requires. */
export function permissionHint(action: GroupAction): string {
  return GROUP_REQUIREMENTS[action] === 'owner'
    ? `${action} is for the owner of the group alone`
    : `${action} needs the admin role in the group: ask one of its admins`;
}
