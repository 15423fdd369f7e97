import type { Invitation, Membership } from './invitation-store.ts';

/** Why an invitation does not let somebody in. */
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

/** Decides about an invitation; undefined lets them in. Whom it is not meant for learns nothing else about it. */
export function invitationRefusal(
  invitation: Invitation,
  { email, membership, now }: Invited,
): InvitationRefusal | undefined {
  if (invitation.email !== null && invitation.email !== email) return 'another email';
  // Before the rest, because whoever repeats the call that let them in should hear that they are in.
  if (membership === 'active') return 'member already';
  if (membership === 'deactivated') return 'deactivated';
  if (invitation.expiresAt.getTime() <= now) return 'expired';
  return invitation.uses >= invitation.maxUses ? 'used up' : undefined;
}
