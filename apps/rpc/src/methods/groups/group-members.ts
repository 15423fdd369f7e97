import type { DatabaseStores } from '@model-gateway/db';
import type { AuditedCall } from '../../audit/audit-rule.ts';
import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';
import { memberRecord, memberTarget } from './group-records.ts';

type MemberCall = AuditedCall<'group.members.update' | 'group.members.remove'>;

const audit = {
  target: ({ params }: MemberCall, stores: DatabaseStores) =>
    memberTarget(params.group_id, params.user_id, stores),
  state: ({ params }: MemberCall, stores: DatabaseStores) =>
    memberState(params.group_id, params.user_id, stores),
};

export function createGroupMembersMethods({
  groupRules: { members },
}: Services): HandlersOf<'group.members'> {
  return {
    'group.members.list': async ({ after, limit }, { group }) => {
      const page = { after: after ?? undefined, countMax: limit };
      return (await members.list(group.id, page)).map(memberRecord);
    },
    'group.members.add': {
      audit: {
        target: ({ params }, stores) => memberTarget(params.group_id, params.email, stores),
        state: ({ params }, stores) => memberState(params.group_id, params.email, stores),
      },
      handle: async ({ email, role, cost_multiplier }, { user, group }) =>
        memberRecord(
          await members.add(user, group, email, { role, costMultiplier: cost_multiplier }),
        ),
    },
    'group.members.update': {
      audit,
      handle: async ({ user_id, role, cost_multiplier, is_active }, { user, group }) =>
        memberRecord(
          await members.update(user, group.id, user_id, {
            role,
            costMultiplier: cost_multiplier,
            isActive: is_active,
          }),
        ),
    },
    'group.members.remove': {
      audit,
      handle: async ({ user_id }, { group }) => {
        await members.remove(group.id, user_id);
        return { ok: true };
      },
    },
  };
}

async function memberState(groupId: string, email: string, { members }: DatabaseStores) {
  const member = await members.find(groupId, email);
  if (member === undefined) return undefined;
  const { userId, role, costMultiplier, isActive } = member;
  return { user_id: userId, role, cost_multiplier: costMultiplier, is_active: isActive };
}
