import type { GroupRules } from '@model-gateway/accounts';
import type { AccountHints, LedgerStore } from '@model-gateway/billing';
import type { Handlers } from '../protocol/handlers.ts';
import { createGroupCreditsMethods } from './group-credits.ts';
import { createGroupInviteMethods } from './group-invites.ts';
import { createGroupMembersMethods } from './group-members.ts';
import { createGroupModelsMethods } from './group-models.ts';
import { groupRecord, memberRecord } from './group-records.ts';

type GroupMethodName = Extract<keyof Handlers, `group.${string}`>;

interface GroupDependencies {
  readonly rules: GroupRules;
  readonly ledger: LedgerStore;
  readonly hints: AccountHints;
}

export function createGroupMethods(
  dependencies: GroupDependencies,
): Pick<Handlers, GroupMethodName> {
  const { rules, ledger, hints } = dependencies;
  const { access, groups } = rules;
  return {
    'group.create': async (request, { user }) => groupRecord(await groups.create(user, request)),
    'group.list': async (_params, { user }) => (await groups.list(user)).map(groupRecord),
    'group.get': async ({ group_id }, { user }) => {
      const { group, members } = await groups.get(user, group_id);
      return { ...groupRecord(group), members: members.map(memberRecord) };
    },
    'group.update': async (
      { group_id, name, description, enforce_model_allowlist, rpm_ceiling },
      { user },
    ) =>
      groupRecord(
        await groups.update(user, group_id, {
          name,
          description,
          enforceModelAllowlist: enforce_model_allowlist,
          rpmCeiling: rpm_ceiling,
        }),
      ),
    'group.delete': async ({ group_id }, { user }) => {
      await groups.delete(user, group_id);
      // The points move to the wallet of the owner, who is the only one that can delete the group.
      await hints.refresh([
        { type: 'group', id: group_id },
        { type: 'user', id: user.id },
      ]);
      return { ok: true };
    },
    ...createGroupMembersMethods(rules.members),
    ...createGroupInviteMethods(rules.invitations),
    ...createGroupModelsMethods(rules.models),
    ...createGroupCreditsMethods({ access, ledger, hints }),
  };
}
