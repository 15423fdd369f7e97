import type { MemberRole } from './group-store.ts';

/** An invitation at rest: its token is kept as a hash alone. */
export interface Invitation {
  readonly id: string;
  readonly groupId: string;
  readonly role: MemberRole;
  /** When set, it is for the account with this email alone. */
  readonly email: string | null;
  readonly maxUses: number;
  readonly uses: number;
  readonly expiresAt: Date;
}

export interface NewInvitation extends Omit<Invitation, 'uses'> {
  readonly tokenHash: string;
  readonly createdById: string;
}

/** What somebody already is to the group that invites them. */
export type Membership = 'none' | 'active' | 'deactivated';

/** How an attempt to join ended. Whatever did not end in `joined` used nothing up. */
export type JoinOutcome = 'joined' | 'member already' | 'used up' | 'gone';

/** Where invitations are kept. */
export interface InvitationStore {
  /** False when the group is gone. */
  create(invitation: NewInvitation): Promise<boolean>;
  find(
    tokenHash: string,
    userId: string,
  ): Promise<{ readonly invitation: Invitation; readonly membership: Membership } | undefined>;
  /** Uses the invitation once and makes the membership, both or neither; of many at once only as many as it has uses. */
  join(invitation: Invitation, userId: string): Promise<JoinOutcome>;
}
