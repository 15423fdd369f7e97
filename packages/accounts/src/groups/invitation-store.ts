import type { MemberRole } from './group-store.ts';

/** A stored invitation: only the hash of its token is kept. */
export interface Invitation {
  readonly id: string;
  readonly groupId: string;
  readonly role: MemberRole;
  /** If set, it is only for the account with this email. */
  readonly email: string | null;
  readonly maxUses: number;
  readonly uses: number;
  readonly expiresAt: Date;
}

export interface NewInvitation extends Omit<Invitation, 'uses'> {
  readonly tokenHash: string;
  readonly createdById: string;
}

/** The membership of an invited user. */
export type Membership = 'none' | 'active' | 'deactivated';

/**
 * The result of an attempt to join. Only `joined` uses the invitation. `withdrawn`: its author may no longer invite. `removed`:
 * the user was removed from the group after it was made.
 */
export type JoinOutcome =
  | 'joined'
  | 'member already'
  | 'used up'
  | 'withdrawn'
  | 'removed'
  | 'gone';

export interface InvitationStore {
  /** False when the group was deleted. Rejects when it has as many open ones as `openMax`, also of concurrent calls. */
  create(invitation: NewInvitation, openMax?: number): Promise<boolean>;
  find(
    tokenHash: string,
    userId: string,
  ): Promise<{ readonly invitation: Invitation; readonly membership: Membership } | undefined>;
  /** Uses the invitation once and adds the member, both or neither; concurrent calls never exceed its uses. */
  join(invitation: Invitation, userId: string): Promise<JoinOutcome>;
}
