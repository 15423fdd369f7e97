import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';
import { groupRecord, groupTarget } from './group-records.ts';

export function createGroupInviteMethods({
  groupRules: { invitations },
  mails,
}: Services): HandlersOf<'group.invite'> {
  return {
    'group.invite.create': {
      audit: {
        target: groupTarget,
        state: ({ result }) =>
          result && {
            invitation_id: result.id,
            role: result.role,
            max_uses: result.max_uses,
            expires_at: result.expires_at,
            for_one_email: result.email !== null,
          },
      },
      handle: async ({ role, email, max_uses, ttl_secs }, { user, group }) => {
        const { invitation, token } = await invitations.create(user, group.id, {
          role,
          email,
          maxUses: max_uses,
          ttlSecs: ttl_secs,
        });
        if (invitation.email !== null)
          await mails.invitation({
            senderId: user.id,
            email: invitation.email,
            groupName: group.name,
            token,
            expiresAt: invitation.expiresAt,
          });
        return {
          id: invitation.id,
          token,
          group_id: invitation.groupId,
          role: invitation.role,
          email: invitation.email,
          max_uses: invitation.maxUses,
          uses: invitation.uses,
          expires_at: invitation.expiresAt.toISOString(),
        };
      },
    },
    'group.invite.accept': {
      audit: {
        target: ({ userId, result }) => result && `group:${result.id}/user:${userId}`,
        state: ({ result }) => result && { role: result.my_role },
      },
      handle: async ({ token }, { user }) => groupRecord(await invitations.accept(user, token)),
    },
  };
}
