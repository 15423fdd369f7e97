import type { HandlersOf } from '../../protocol/handlers.ts';
import type { Services } from '../../services.ts';
import { groupRecord } from './group-records.ts';

export function createGroupInviteMethods({
  groupRules: { invitations },
  mails,
}: Services): HandlersOf<'group.invite'> {
  return {
    'group.invite.create': async ({ role, email, max_uses, ttl_secs }, { user, group }) => {
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
    'group.invite.accept': async ({ token }, { user }) =>
      groupRecord(await invitations.accept(user, token)),
  };
}
