import type { Invitation, Membership } from './invitation-store.ts';

/** Why an invitation was refused. */
export type InvitationRefusal =
  | 'another email'
  | 'member already'
  | 'deactivated'
  | 'expired'
  | 'used up';

interface Invited {
  readonly email: string;
  readonly membership: Membership;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Checks an invitation; undefined accepts it. Users with another email learn nothing else about it. */
export function invitationRefusal(
  invitation: Invitation,
  { email, membership, now }: Invited,
): InvitationRefusal | undefined {
  if (invitation.email !== null && invitation.email !== email) return 'another email';
  // Checked first, so that a repeated call reports the existing membership.
  if (membership === 'active') return 'member already';
  if (membership === 'deactivated') return 'deactivated';
  if (invitation.expiresAt.getTime() <= now) return 'expired';
  return invitation.uses >= invitation.maxUses ? 'used up' : undefined;
}
