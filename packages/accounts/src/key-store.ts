/** An API key as its owner sees it. The secret itself is kept nowhere. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  readonly groupId: string | null;
  readonly name: string;
  readonly keyPrefix: string;
  readonly keyHint: string;
  readonly project: string;
  readonly createdAt: Date;
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

/** Where API keys are kept, hashed. */
export interface KeyStore {
  create(key: NewApiKey): Promise<ApiKey>;
  /** The holder of a key that is neither revoked nor a group key of a deactivated member. */
  findHolder(keyHash: string): Promise<KeyHolder | undefined>;
}
