import type { KeySettings } from './key-settings.ts';

/** An API key as its owner sees it. The secret itself is not stored. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly name: string;
  readonly keyPrefix: string;
  readonly keyHint: string;
  readonly project: string;
  /** Whether it is accepted now: neither revoked nor expired, and its owner an active member of its group, if any. */
  readonly active: boolean;
  readonly createdAt: Date;
  /** Accurate to a minute. */
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  readonly settings: KeySettings;
  /** What its requests have cost in the current period of its budget; 0 without one. */
  readonly spentUsd: number;
  /** Until then the secret before the last rotation works; null without one. */
  readonly previousUntil: Date | null;
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
  readonly settings?: KeySettings;
}

/** What a rotation changes. */
export interface RotatedSecret {
  readonly keyHash: string;
  readonly keyHint: string;
  /** Until when the secret before works; null: not at all. */
  readonly previousUntil: Date | null;
}

/** The holder of a valid key. */
export interface KeyHolder {
  readonly keyId: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly keyPrefix: string;
  readonly project: string;
}

/** The person of a key: whom its refusals name. */
export interface KeyOwner {
  readonly email: string;
  readonly isAdmin: boolean;
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
  readonly owner: KeyOwner;
  readonly limits: HolderLimits;
  readonly settings: KeySettings;
  /** Set for a secret that was replaced by a rotation: until then it works. */
  readonly replacedUntil: Date | null;
}

/** The newest keys, or those that are older than one. */
export interface KeyPage {
  readonly before?: string | undefined;
  readonly countMax: number;
}

/** Stores API keys as hashes. */
export interface KeyStore {
  /**
   * Rejects with `rate_limit_exceeded` when the user has that many keys that are not revoked, and with `not_found` when the user
   * is not an active member of the group.
   */
  create(key: NewApiKey, activeMax?: number): Promise<ApiKey>;
  /** The newest keys of a user, newest first, with what they have spent in the period of that time. */
  list(userId: string, countMax: number, at: Date): Promise<readonly ApiKey[]>;
  /** A page of all keys of a user, newest first. */
  listPage(userId: string, page: KeyPage, at: Date): Promise<readonly ApiKey[]>;
  /** A key of any user, with what it has spent in the period of that time; undefined when there is none. */
  find(keyId: string, at: Date): Promise<ApiKey | undefined>;
  /** Undefined when there is no such key of the user, or it is revoked. */
  update(
    userId: string,
    keyId: string,
    change: (settings: KeySettings) => KeySettings,
    options: { readonly name?: string | undefined; readonly at: Date },
  ): Promise<ApiKey | undefined>;
  /** Replaces the secret. Undefined in the same cases as for `update`. */
  rotate(
    userId: string,
    keyId: string,
    secret: RotatedSecret,
    at: Date,
  ): Promise<ApiKey | undefined>;
  /** A revoked key stays as it is. False when it belongs to another user. */
  revoke(userId: string, keyId: string, at: Date): Promise<boolean>;
  /** The holder of a key that is neither revoked nor a group key of a deactivated member. It may have expired. */
  findHolder(keyHash: string): Promise<FoundKey | undefined>;
}
