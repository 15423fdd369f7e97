import type { ModelPolicy } from '@model-gateway/accounts';

/** Whom a request is served and metered for. */
export interface Caller {
  readonly userId: string;
  /** Null for a request that came with a JWT. */
  readonly keyId: string | null;
  /** What usage rows show: the first 8 characters of the key, or `jwt-<user-uuid>`. */
  readonly apiKeyId: string;
  readonly project: string | null;
  readonly groupId: string | null;
  /** What a request costs the group, as a multiple of its price. */
  readonly multiplier: number;
  /** What the caller's group says about models; null where no group has a say. */
  readonly modelPolicy: ModelPolicy | null;
}

/** A user who came with a token instead of a key: no group has a say, and the wallet is their own. */
export const jwtCaller = (userId: string): Caller => ({
  userId,
  keyId: null,
  apiKeyId: `jwt-${userId}`,
  project: null,
  groupId: null,
  multiplier: 1,
  modelPolicy: null,
});
