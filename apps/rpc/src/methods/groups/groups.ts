import type { DatabaseStores } from '@model-gateway/db';
import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';
import { createGroupCreditsMethods } from './group-credits.ts';
import { createGroupInviteMethods } from './group-invites.ts';
import { createGroupMembersMethods } from './group-members.ts';
import { createGroupModelsMethods } from './group-models.ts';
import { groupRecord, groupTarget, memberRecord } from './group-records.ts';

async function groupState(groupId: string, { groups }: DatabaseStores) {
  const group = await groups.find(groupId, null);
  if (group === undefined) return undefined;
  const { name, description, ownerId, enforceModelAllowlist, rpmCeiling } = group;
  return {
    name,
    description,
    owner_id: ownerId,
    enforce_model_allowlist: enforceModelAllowlist,
    rpm_ceiling: rpmCeiling,
  };
}

export function createGroupMethods(services: Services): HandlersOf<'group'> {
  const { hints } = services;
  const { groups, members } = services.groupRules;
  return {
    'group.create': {
      audit: {
        target: ({ result }) => result && `group:${result.id}`,
        state: ({ result }, stores) => result && groupState(result.id, stores),
      },
      handle: async (request, { user }) => groupRecord(await groups.create(user, request)),
    },
    'group.list': async ({ after, limit }, { user }) => {
      const page = { after: after ?? undefined, countMax: limit };
      return (await groups.list(user, page)).map(groupRecord);
    },
    'group.get': async ({ after, limit }, { group }) => {
      const page = { after: after ?? undefined, countMax: limit + 1 };
      const found = await members.list(group.id, page);
      const shown = found.slice(0, limit);
      const hasMore = found.length > limit;
      return {
        ...groupRecord(group),
        members: shown.map(memberRecord),
        has_more: hasMore,
        after: hasMore ? (shown.at(-1)?.email ?? null) : null,
      };
    },
    'group.update': {
      audit: {
        target: groupTarget,
        state: ({ params }, stores) => groupState(params.group_id, stores),
      },
      handle: async (
        { name, description, enforce_model_allowlist, rpm_ceiling },
        { user, group },
      ) =>
        groupRecord(
          await groups.update(user, group.id, {
            name,
            description,
            enforceModelAllowlist: enforce_model_allowlist,
            rpmCeiling: rpm_ceiling,
          }),
        ),
    },
    'group.delete': {
      audit: {
        target: groupTarget,
        state: ({ params }, stores) => groupState(params.group_id, stores),
      },
      handle: async (_params, { user, group }) => {
        await groups.delete(group.id);
        // The points move to the wallet of the owner, who is the only one that can delete the group.
        await hints.refresh([
          { type: 'group', id: group.id },
          { type: 'user', id: user.id },
        ]);
        return { ok: true };
      },
    },
    ...createGroupMembersMethods(services),
    ...createGroupInviteMethods(services),
    ...createGroupModelsMethods(services),
    ...createGroupCreditsMethods(services),
  };
}
