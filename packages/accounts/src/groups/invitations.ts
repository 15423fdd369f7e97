import { ServiceError } from '@model-gateway/contracts';
import { newId, randomToken, sha256Hex, type Clock } from '@model-gateway/kernel';
import type { AccountEvents } from '../changes/account-events.ts';
import type { User } from '../users/user-store.ts';
import { groupNotFound } from './group-access.ts';
import type { Group, GroupStore, MemberRole } from './group-store.ts';
import type { Invitation, InvitationStore } from './invitation-store.ts';
import { invitationRefusal, type InvitationRefusal } from './invitation-refusal.ts';

/** Invitations: a token to join a group, shown once. */
export interface Invitations {
  create(
    caller: User,
    groupId: string,
    request: {
      readonly role: MemberRole;
      readonly email?: string | undefined;
      readonly maxUses: number;
      readonly ttlSecs: number;
    },
  ): Promise<{ readonly invitation: Invitation; readonly token: string }>;
  /** The group that was joined. */
  accept(caller: User, token: string): Promise<Group>;
}

interface InvitationsDependencies {
  readonly invitations: InvitationStore;
  readonly groups: Pick<GroupStore, 'find'>;
  readonly events: AccountEvents;
  readonly clock: Clock;
}

const TOKEN_BYTES = 32;
const OPEN_PER_GROUP_MAX = 1_000;

export function createInvitations(dependencies: InvitationsDependencies): Invitations {
  const { invitations, groups, events, clock } = dependencies;

  /** The state may have changed since the check: the store decides. */
  async function join(invitation: Invitation, user: User): Promise<void> {
    const outcome = await invitations.join(invitation, user.id);
    switch (outcome) {
      case 'joined':
        return;
      case 'member already':
      case 'used up':
      case 'withdrawn':
      case 'removed':
        throw refused(outcome);
      case 'gone':
        throw invitationNotFound();
    }
  }

  return {
    async create(caller, groupId, { role, email = null, maxUses, ttlSecs }) {
      const token = `inv-${randomToken(TOKEN_BYTES)}`;
      const expiresAt = new Date(clock.now() + ttlSecs * 1000);
      const invitation = { id: newId(), groupId, role, email, maxUses, expiresAt };
      const isStored = await invitations.create(
        { ...invitation, tokenHash: sha256Hex(token), createdById: caller.id },
        OPEN_PER_GROUP_MAX,
      );
      if (!isStored) throw groupNotFound();
      return { invitation: { ...invitation, uses: 0 }, token };
    },

    async accept(caller, token) {
      const found = await invitations.find(sha256Hex(token), caller.id);
      if (found === undefined) throw invitationNotFound();
      const { invitation, membership } = found;
      const refusal = invitationRefusal(invitation, {
        email: caller.email,
        membership,
        now: clock.now(),
      });
      if (refusal !== undefined) throw refused(refusal);
      await join(invitation, caller);
      await events.changed({ kind: 'member', groupId: invitation.groupId, userId: caller.id });
      const group = await groups.find(invitation.groupId, caller.id);
      if (group === undefined) throw groupNotFound();
      return group;
    },
  };
}

const REFUSALS = {
  'another email': 'this invitation is for another email address',
  'member already': 'already a member of the group',
  deactivated: 'your membership was deactivated: ask an admin of the group to reactivate it',
  expired: 'this invitation has expired: ask for a new one',
  'used up': 'this invitation has been used up: ask for a new one',
  withdrawn:
    'the person who made this invitation may no longer invite to the group: ask for a new one',
  removed: 'you were removed from the group since this invitation was made: ask for a new one',
} as const satisfies Record<InvitationRefusal | 'withdrawn' | 'removed', string>;

const refused = (why: keyof typeof REFUSALS): ServiceError =>
  new ServiceError('invitation_refused', REFUSALS[why]);

const invitationNotFound = (): ServiceError =>
  new ServiceError('not_found', 'invitation not found');
