/** A refresh token at rest. Tokens that were rotated out of one another form a family. */
export interface StoredRefreshToken {
  readonly tokenHash: string;
  readonly familyId: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

/** What came of trading a token for the next one of its family. */
export type Rotation =
  | { readonly outcome: 'rotated'; readonly userId: string }
  /** It was used or revoked before; now its whole family is revoked. */
  | { readonly outcome: 'reused'; readonly userId: string }
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'unknown' };

/** Where refresh tokens are kept, hashed. */
export interface RefreshTokenStore {
  save(token: StoredRefreshToken): Promise<void>;
  /** All or nothing. When one token is presented twice at once, one is rotated and the other is reuse. */
  rotate(request: {
    readonly tokenHash: string;
    readonly successorHash: string;
    readonly successorExpiresAt: Date;
    readonly now: Date;
  }): Promise<Rotation>;
  /** Forgets tokens that nobody can use any more, at most so many. */
  removeExpired(before: Date, countMax: number): Promise<void>;
}
