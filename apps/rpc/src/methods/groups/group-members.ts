import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';
import { memberRecord } from './group-records.ts';

export function createGroupMembersMethods({
  groupRules: { members },
}: Services): HandlersOf<'group.members'> {
  return {
    'group.members.list': async ({ after, limit }, { group }) => {
      const page = { after: after ?? undefined, countMax: limit };
      return (await members.list(group.id, page)).map(memberRecord);
    },
    'group.members.add': async ({ email, role, cost_multiplier }, { user, group }) =>
      memberRecord(
        await members.add(user, group, email, { role, costMultiplier: cost_multiplier }),
      ),
    'group.members.update': async (
      { user_id, role, cost_multiplier, is_active },
      { user, group },
    ) =>
      memberRecord(
        await members.update(user, group.id, user_id, {
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
