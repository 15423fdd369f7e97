/** An API key as its owner sees it. The secret itself is not stored. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly name: string;
  readonly keyPrefix: string;
  readonly keyHint: string;
  readonly project: string;
  /** Whether it is accepted now: not revoked, and its owner an active member of its group, if any. */
  readonly active: boolean;
  readonly createdAt: Date;
  /** Accurate to a minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface NewApiKey {
  readonly id: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly name: string;
  readonly keyHash: string;
  readonly keyPrefix: string;
  readonly keyHint: string;
  readonly project: string;
}

/** The holder of a valid key. */
export interface KeyHolder {
  readonly keyId: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly keyPrefix: string;
  readonly project: string;
}

/** The limits of a key's holder; null means unlimited. */
export interface HolderLimits {
  readonly tier: {
    readonly name: string;
    readonly monthlyUsdQuota: number | null;
    readonly monthlyTokenQuota: number | null;
    readonly rpm: number | null;
  };
  /** The limit per minute for all keys of the group together. */
  readonly groupRpm: number | null;
  /** What the holder's requests cost the group, as a multiple. */
  readonly costMultiplier: number;
}

/** A valid key, looked up. */
export interface FoundKey {
  readonly holder: KeyHolder;
  readonly limits: HolderLimits;
}

/** Stores API keys as hashes. */
export interface KeyStore {
  /** Rejects with `rate_limit_exceeded` when the user has that many active keys. */
  create(key: NewApiKey, activeMax?: number): Promise<ApiKey>;
  /** The newest keys of a user, newest first. */
  list(userId: string, countMax: number): Promise<readonly ApiKey[]>;
  /** A revoked key stays as it is. False when it belongs to another user. */
  revoke(userId: string, keyId: string, at: Date): Promise<boolean>;
  /** The holder of a key that is neither revoked nor a group key of a deactivated member. */
  findHolder(keyHash: string): Promise<FoundKey | undefined>;
}
