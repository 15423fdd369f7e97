/** What a member is: the owner is an admin whom nobody can change. */
export type GroupRole = 'owner' | 'admin' | 'member';

/** The role that a member can be given. */
export type MemberRole = 'admin' | 'member';

/** A group, as one person sees it. */
export interface Group {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly description: string;
  readonly enforceModelAllowlist: boolean;
  /** Requests per minute of all its keys together; null means no ceiling. */
  readonly rpmCeiling: number | null;
  readonly createdAt: Date;
  /** Of active members. */
  readonly memberCount: number;
  /** Null for a viewer who is no active member. */
  readonly viewerRole: GroupRole | null;
}

export interface NewGroup {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly description: string;
}

/** What is undefined stays as it is. */
export interface GroupChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly enforceModelAllowlist?: boolean | undefined;
  readonly rpmCeiling?: number | null | undefined;
}

/** Where groups are kept. A viewer of null is nobody in particular. */
export interface GroupStore {
  /** The owner becomes its first member, as an admin. False when the id is in use. */
  create(group: NewGroup): Promise<boolean>;
  find(groupId: string, viewerId: string | null): Promise<Group | undefined>;
  /** The groups of an active member, oldest first. */
  listOf(userId: string): Promise<readonly Group[]>;
  /** Every group, oldest first. */
  listAll(): Promise<readonly Group[]>;
  update(groupId: string, changes: GroupChanges): Promise<void>;
  /**
   * Memberships, invitations and rules go with it, its keys become personal, and what is left in its pool moves to the
   * wallet of the owner: all of it or nothing.
   */
  delete(groupId: string): Promise<void>;
}
