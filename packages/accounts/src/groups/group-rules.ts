import type { Clock } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { UserStore } from '../users/user-store.ts';
import { createGroupAccess, type GroupAccess } from './group-access.ts';
import { createGroupMembers, type GroupMembers } from './group-members.ts';
import { createGroupModels, type GroupModels } from './group-models.ts';
import type { GroupStore } from './group-store.ts';
import { createGroups, type Groups } from './groups.ts';
import type { InvitationStore } from './invitation-store.ts';
import { createInvitations, type Invitations } from './invitations.ts';
import type { MemberStore } from './member-store.ts';
import type { ModelRuleStore } from './model-rule-store.ts';

/** The rules about groups. Authorize callers with `access` before any other use of a group. */
export interface GroupRules {
  readonly access: GroupAccess;
  readonly groups: Groups;
  readonly members: GroupMembers;
  readonly invitations: Invitations;
  readonly models: GroupModels;
}

interface GroupRulesDependencies {
  readonly stores: {
    readonly users: UserStore;
    readonly groups: GroupStore;
    readonly members: MemberStore;
    readonly invitations: InvitationStore;
    readonly modelRules: ModelRuleStore;
  };
  readonly events: AccountEvents;
  readonly clock: Clock;
  /** The lowest cost multiplier that group admins may give. */
  readonly multiplierMin: number;
}

/** Creates the group rules from their stores. */
export function createGroupRules(dependencies: GroupRulesDependencies): GroupRules {
  const { stores, events, clock, multiplierMin } = dependencies;
  const { users, groups, members, invitations, modelRules } = stores;
  return {
    access: createGroupAccess(groups),
    groups: createGroups({ groups, users, events }),
    members: createGroupMembers({ members, users, events, multiplierMin }),
    invitations: createInvitations({ invitations, groups, events, clock }),
    models: createGroupModels({ modelRules, events }),
  };
}
