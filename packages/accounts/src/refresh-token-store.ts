/** A refresh token at rest. Tokens that were rotated out of one another form a family. */
export interface StoredRefreshToken {
  readonly tokenHash: string;
  readonly familyId: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

/** Where refresh tokens are kept, hashed. */
export interface RefreshTokenStore {
  save(token: StoredRefreshToken): Promise<void>;
}
