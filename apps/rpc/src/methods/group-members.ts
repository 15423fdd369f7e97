import type { GroupMembers } from '@model-gateway/accounts';
import type { Handlers } from '../protocol/handlers.ts';
import { memberRecord } from './group-records.ts';

type MembersMethodName = Extract<keyof Handlers, `group.members.${string}`>;

export function createGroupMembersMethods(
  members: GroupMembers,
): Pick<Handlers, MembersMethodName> {
  return {
    'group.members.list': async ({ group_id }, { user }) =>
      (await members.list(user, group_id)).map(memberRecord),
    'group.members.add': async ({ group_id, email, role, cost_multiplier }, { user }) =>
      memberRecord(
        await members.add(user, group_id, email, { role, costMultiplier: cost_multiplier }),
      ),
    'group.members.update': async (
      { group_id, user_id, role, cost_multiplier, is_active },
      { user },
    ) =>
      memberRecord(
        await members.update(user, group_id, user_id, {
          role,
          costMultiplier: cost_multiplier,
          isActive: is_active,
        }),
      ),
    'group.members.remove': async ({ group_id, user_id }, { user }) => {
      await members.remove(user, group_id, user_id);
      return { ok: true };
    },
  };
}
