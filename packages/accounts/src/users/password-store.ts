/** A new password of a user. */
export interface NewPassword {
  readonly userId: string;
  /** The hash that was checked: another change in between makes this one fail. */
  readonly currentHash: string;
  readonly nextHash: string;
  /** The sign-in that does not end. */
  readonly keptFamilyId: string | undefined;
  readonly now: Date;
}

/** A user whose password was set, and the sign-ins that ended with it. */
export interface PasswordSet {
  readonly userId: string;
  readonly endedFamilyIds: readonly string[];
}

/** Stores passwords and reset links as hashes. */
export interface PasswordStore {
  /** All or nothing. Undefined when the user is not active or the current password is another one by now. */
  change(password: NewPassword): Promise<PasswordSet | undefined>;
  /** Replaces an earlier link. False when the user is unknown or not active. */
  saveReset(reset: {
    readonly userId: string;
    readonly tokenHash: string;
    readonly expiresAt: Date;
    /** The link works as long as this user is an active admin; undefined for the admin token. */
    readonly createdById: string | undefined;
  }): Promise<boolean>;
  /** Whether a link with this token works. */
  hasReset(tokenHash: string, now: Date): Promise<boolean>;
  /** All or nothing, and once: undefined when the link does not work or was used. */
  useReset(reset: {
    readonly tokenHash: string;
    readonly nextHash: string;
    readonly now: Date;
  }): Promise<PasswordSet | undefined>;
}
