import type { GroupMembers } from '@model-gateway/accounts';
import type { Handlers } from '../protocol/handlers.ts';
import { memberRecord } from './group-records.ts';

type MembersMethodName = Extract<keyof Handlers, `group.members.${string}`>;

export function createGroupMembersMethods(
  members: GroupMembers,
): Pick<Handlers, MembersMethodName> {
  return {
    'group.members.list': async (_params, { group }) =>
      (await members.list(group.id)).map(memberRecord),
    'group.members.add': async ({ email, role, cost_multiplier }, { group }) =>
      memberRecord(await members.add(group, email, { role, costMultiplier: cost_multiplier })),
    'group.members.update': async ({ user_id, role, cost_multiplier, is_active }, { group }) =>
      memberRecord(
        await members.update(group.id, user_id, {
          role,
          costMultiplier: cost_multiplier,
          isActive: is_active,
        }),
      ),
    'group.members.remove': async ({ user_id }, { group }) => {
      await members.remove(group.id, user_id);
      return { ok: true };
    },
  };
}
