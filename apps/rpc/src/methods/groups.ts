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
  const { groups, members } = rules;
  return {
    'group.create': async (request, { user }) => groupRecord(await groups.create(user, request)),
    'group.list': async (_params, { user }) => (await groups.list(user)).map(groupRecord),
    'group.get': async (_params, { group }) => ({
      ...groupRecord(group),
      members: (await members.list(group.id)).map(memberRecord),
    }),
    'group.update': async (
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
    'group.delete': async (_params, { user, group }) => {
      await groups.delete(group.id);
      // The points move to the wallet of the owner, who is the only one that can delete the group.
      await hints.refresh([
        { type: 'group', id: group.id },
        { type: 'user', id: user.id },
      ]);
      return { ok: true };
    },
    ...createGroupMembersMethods(members),
    ...createGroupInviteMethods(rules.invitations),
    ...createGroupModelsMethods(rules.models),
    ...createGroupCreditsMethods({ ledger, hints }),
  };
}
