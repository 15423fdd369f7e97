import type { MemberRole } from './group-store.ts';

/** The membership of a user in a group. */
export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: MemberRole;
  /** The multiplier for the points of the member's requests. */
  readonly costMultiplier: number;
  readonly isActive: boolean;
  readonly isOwner: boolean;
  readonly joinedAt: Date;
}

/** Undefined fields stay as they are. */
export interface MemberChanges {
  readonly role?: MemberRole | undefined;
  readonly costMultiplier?: number | undefined;
  readonly isActive?: boolean | undefined;
}

/** The first members, or those after the one with an email. */
export interface MemberPage {
  readonly after?: string | undefined;
  readonly countMax: number;
}

export interface MemberStore {
  /** The active members: the owner, then by the time of joining. */
  list(groupId: string, page: MemberPage): Promise<readonly Member[]>;
  /** Includes deactivated members. */
  find(groupId: string, email: string): Promise<Member | undefined>;
  /** Adds or updates an active member. Undefined when the group was deleted. */
  save(
    groupId: string,
    userId: string,
    changes: Omit<MemberChanges, 'isActive'>,
  ): Promise<Member | undefined>;
  /** Undefined when the user is not a member any more. */
  update(groupId: string, userId: string, changes: MemberChanges): Promise<Member | undefined>;
  /** Ends the membership and revokes the member's keys of this group. False when the user was not a member. */
  remove(groupId: string, userId: string): Promise<boolean>;
}
