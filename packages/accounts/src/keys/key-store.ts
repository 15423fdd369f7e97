/** An API key as its owner sees it. The secret itself is kept nowhere. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly name: string;
  readonly keyPrefix: string;
  readonly keyHint: string;
  readonly project: string;
  /** Whether it is accepted now: not revoked, nor a key of a group that its owner is no active member of. */
  readonly active: boolean;
  readonly createdAt: Date;
  /** As exact as a minute. */
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

/** Whom a valid key speaks for. */
export interface KeyHolder {
  readonly keyId: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly keyPrefix: string;
  readonly project: string;
}

/** How much the holder of a key may; null means that there is no limit. */
export interface HolderLimits {
  readonly tier: {
    readonly name: string;
    readonly monthlyUsdQuota: number | null;
    readonly monthlyTokenQuota: number | null;
    readonly rpm: number | null;
  };
  /** What all keys of the group may do together in a minute. */
  readonly groupRpm: number | null;
  /** What the holder's requests cost the group, as a multiple. */
  readonly costMultiplier: number;
}

/** A valid key, looked up. */
export interface FoundKey {
  readonly holder: KeyHolder;
  readonly limits: HolderLimits;
}

/** Where API keys are kept, hashed. */
export interface KeyStore {
  create(key: NewApiKey): Promise<ApiKey>;
  /** The newest of somebody's keys, newest first. */
  list(userId: string, countMax: number): Promise<readonly ApiKey[]>;
  /** A key that was revoked before stays as it is. False when it is not theirs. */
  revoke(userId: string, keyId: string, at: Date): Promise<boolean>;
  /** The holder of a key that is neither revoked nor a group key of a deactivated member. */
  findHolder(keyHash: string): Promise<FoundKey | undefined>;
}
