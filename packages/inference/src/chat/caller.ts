import type { ModelPolicy } from '@model-gateway/accounts';

/** The user or key that a request is served and metered for. */
export interface Caller {
  readonly userId: string;
  /** Null for a request with a JWT. */
  readonly keyId: string | null;
  /** Shown in usage rows: the first 8 characters of the key, or `jwt-<user-uuid>`. */
  readonly apiKeyId: string;
  readonly project: string | null;
  readonly groupId: string | null;
  /** What a request costs the group, as a multiple of its price. */
  readonly multiplier: number;
  /** The model rules of the caller's group and key; null without any. */
  readonly modelPolicy: ModelPolicy | null;
}

/** A user with a token instead of a key: without a group, and with the user's own wallet. */
export const jwtCaller = (userId: string): Caller => ({
  userId,
  keyId: null,
  apiKeyId: `jwt-${userId}`,
  project: null,
  groupId: null,
  multiplier: 1,
  modelPolicy: null,
});
