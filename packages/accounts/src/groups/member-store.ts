import type { MemberRole } from './group-store.ts';

/** Somebody's place in a group. */
export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly role: MemberRole;
  /** What the points of their requests are multiplied with. */
  readonly costMultiplier: number;
  readonly isActive: boolean;
  readonly isOwner: boolean;
  readonly joinedAt: Date;
}

/** What is undefined stays as it is. */
export interface MemberChanges {
  readonly role?: MemberRole | undefined;
  readonly costMultiplier?: number | undefined;
  readonly isActive?: boolean | undefined;
}

/** Where memberships are kept. */
export interface MemberStore {
  /** The active ones: the owner, then by when they joined. */
  list(groupId: string): Promise<readonly Member[]>;
  /** Also one who was deactivated. */
  find(groupId: string, email: string): Promise<Member | undefined>;
  /** Makes somebody an active member, or changes the member they are. Undefined when the group is gone. */
  save(
    groupId: string,
    userId: string,
    changes: Omit<MemberChanges, 'isActive'>,
  ): Promise<Member | undefined>;
  /** Undefined when they are no member any more. */
  update(groupId: string, userId: string, changes: MemberChanges): Promise<Member | undefined>;
  /** Ends the membership and revokes their keys of this group. False when they were no member. */
  remove(groupId: string, userId: string): Promise<boolean>;
}
