/** The role of a member: the owner is an admin who cannot be changed. */
export type GroupRole = 'owner' | 'admin' | 'member';

/** A role that can be assigned to a member. */
export type MemberRole = 'admin' | 'member';

/** A group, as one user sees it. */
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
  /** Null for a viewer who is not an active member. */
  readonly viewerRole: GroupRole | null;
}

export interface NewGroup {
  readonly id: string;
  readonly ownerId: string;
  readonly name: string;
  readonly description: string;
}

/** Undefined fields stay as they are. */
export interface GroupChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly enforceModelAllowlist?: boolean | undefined;
  readonly rpmCeiling?: number | null | undefined;
}

/** The first groups, or those after one. */
export interface GroupPage {
  readonly after?: string | undefined;
  readonly countMax: number;
}

/** Stores groups. A viewer of null is no user. */
export interface GroupStore {
  /**
   * The owner becomes its first member, as an admin. False when the id is in use; rejects one of a deleted group with a bill,
   * and when the owner has as many groups as `ownedMax`, also of concurrent calls.
   */
  create(group: NewGroup, ownedMax?: number): Promise<boolean>;
  find(groupId: string, viewerId: string | null): Promise<Group | undefined>;
  /** The groups of an active member, oldest first. */
  listOf(userId: string, page: GroupPage): Promise<readonly Group[]>;
  /** Every group, oldest first. */
  listAll(page: GroupPage): Promise<readonly Group[]>;
  update(groupId: string, changes: GroupChanges): Promise<void>;
  /**
   * Deletes its memberships, invitations and rules, makes its keys personal, and moves the rest of its pool to the wallet of
   * the owner: all or nothing.
   */
  delete(groupId: string): Promise<void>;
}
