/** An account as admins see it. */
export interface AccountView {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly isAdmin: boolean;
  readonly isActive: boolean;
  /** Whether it belongs to a person of the identity provider. */
  readonly isProviderBound: boolean;
  /** Whether an admin lets the person of the provider who has its email take it over. */
  readonly isClaimable: boolean;
  readonly tier: string;
  readonly createdAt: Date;
  /** Null when that was long ago. */
  readonly lastSignInAt: Date | null;
  readonly activeKeys: number;
  /** Set when the person was removed. */
  readonly erasedAt: Date | null;
}

export interface AccountQuery {
  /** A part of the email or name. */
  readonly search?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly isAdmin?: boolean | undefined;
  /** Only accounts that are listed after this one. */
  readonly after?: string | undefined;
  readonly countMax: number;
}

export interface AccountChanges {
  readonly tier?: string | undefined;
  readonly isAdmin?: boolean | undefined;
  readonly isActive?: boolean | undefined;
  readonly name?: string | undefined;
  /** It ends when the admin who allowed it stops being one; undefined for the admin token. */
  readonly providerClaim?:
    | { readonly isAllowed: boolean; readonly byId: string | undefined }
    | undefined;
}

/** All accounts, for admins. Rejects with `account_protected` what would leave no active admin. */
export interface UserDirectoryStore {
  /** The oldest first. */
  list(query: AccountQuery): Promise<readonly AccountView[]>;
  find(userId: string): Promise<AccountView | undefined>;
  /** Also of a deactivated account. */
  findIdByEmail(email: string): Promise<string | undefined>;
  /** A deactivated user has no sign-in and no reset link left. Undefined when there is no such user. */
  update(userId: string, changes: AccountChanges, now: Date): Promise<AccountView | undefined>;
  /**
   * Removes the person and keeps the row. What the user owns goes to the admins of each group, or else to the successor. May be
   * repeated. False when there is no such user.
   */
  erase(userId: string, successorId: string | undefined, now: Date): Promise<boolean>;
  /** Removes what an erased person wrote. It can take minutes, and may be repeated. */
  eraseContent(userId: string): Promise<void>;
}
