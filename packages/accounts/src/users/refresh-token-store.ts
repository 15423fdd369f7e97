/** A stored refresh token. A token and its successors form a family. */
export interface StoredRefreshToken {
  readonly tokenHash: string;
  readonly familyId: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

/** The result of exchanging a token for its successor. */
export type Rotation =
  | { readonly outcome: 'rotated'; readonly userId: string; readonly familyId: string }
  /** The token was used or revoked before; now its whole family is revoked. */
  | { readonly outcome: 'reused'; readonly userId: string; readonly familyId: string }
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'unknown' };

/** Stores refresh tokens as hashes. */
export interface RefreshTokenStore {
  /** False when the user is not active, or when their password is not the given one any more. */
  save(token: StoredRefreshToken, passwordHash?: string): Promise<boolean>;
  /** All or nothing. Of two concurrent calls with one token, one is rotated and the other is reuse. */
  rotate(request: {
    readonly tokenHash: string;
    readonly successorHash: string;
    readonly successorExpiresAt: Date;
    readonly now: Date;
    /** The same rotation again counts as the first one for this time, as long as the successor was not used. */
    readonly repeatableMs?: number;
  }): Promise<Rotation>;
  /** Revokes every token of the family, also one that a concurrent rotation is adding. */
  revokeFamily(familyId: string, now: Date): Promise<void>;
  /** Revokes every token of the user; returns the families that had a usable one. */
  revokeUser(userId: string, now: Date): Promise<readonly string[]>;
  /** Deletes expired tokens, up to a limit. */
  removeExpired(before: Date, countMax: number): Promise<void>;
}
