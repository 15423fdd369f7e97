import type { Group, Member } from '@model-gateway/accounts';
import type { RpcResult } from '@model-gateway/contracts';
import type { DatabaseStores } from '@model-gateway/db';

/** A group in the form that callers get. */
export function groupRecord(group: Group): RpcResult<'group.create'> {
  return {
    id: group.id,
    name: group.name,
    description: group.description,
    my_role: group.viewerRole,
    member_count: group.memberCount,
    enforce_model_allowlist: group.enforceModelAllowlist,
    rpm_ceiling: group.rpmCeiling,
    created_at: group.createdAt.toISOString(),
  };
}

/** A member in the form that callers get, identified by the email. */
export function memberRecord(member: Member): RpcResult<'group.members.add'> {
  return {
    user_id: member.email,
    email: member.email,
    name: member.name,
    role: member.role,
    cost_multiplier: member.costMultiplier,
    is_active: member.isActive,
    is_owner: member.isOwner,
    joined_at: member.joinedAt.toISOString(),
  };
}

/** The target of a change in the audit log. */
export const groupTarget = ({ params }: { readonly params: { readonly group_id: string } }) =>
  `group:${params.group_id}`;

/** The target of a change to a member. */
export async function memberTarget(
  groupId: string,
  email: string,
  { userDirectory }: DatabaseStores,
) {
  const userId = await userDirectory.findIdByEmail(email);
  return userId && `group:${groupId}/user:${userId}`;
}
