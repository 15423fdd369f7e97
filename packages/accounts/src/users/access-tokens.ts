import { createSecretKey } from 'node:crypto';
import { newId, type Clock } from '@model-gateway/kernel';
import jwt from 'jsonwebtoken';

/** Signs and checks the short-lived tokens that speak for a signed-in user. */
export interface AccessTokens {
  readonly expiresInSecs: number;
  sign(userId: string): string;
  /** The user's id, or undefined for a token that is expired, tampered with or not ours. */
  verify(token: string): string | undefined;
}

interface AccessTokenOptions {
  readonly secret: string;
  readonly expiresInSecs: number;
  readonly clock: Clock;
}

const ALGORITHM = 'HS256';
const USER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function createAccessTokens({
  secret,
  expiresInSecs,
  clock,
}: AccessTokenOptions): AccessTokens {
  // Made once: given the text, the library would try to read it as a public key with every token.
  const key = createSecretKey(secret, 'utf8');
  const nowSecs = () => Math.floor(clock.now() / 1000);
  return {
    expiresInSecs,
    sign(userId) {
      const iat = nowSecs();
      const claims = { sub: userId, iat, exp: iat + expiresInSecs, jti: newId(), typ: 'access' };
      return jwt.sign(claims, key, { algorithm: ALGORITHM });
    },
    verify(token) {
      try {
        const claims = jwt.verify(token, key, {
          algorithms: [ALGORITHM],
          clockTimestamp: nowSecs(),
        });
        if (typeof claims === 'string' || claims['typ'] !== 'access') return undefined;
        // A token without an expiry, or of somebody who can be no user, was not made here.
        return claims.exp === undefined || !isUserId(claims.sub) ? undefined : claims.sub;
      } catch {
        return undefined;
      }
    },
  };
}

const isUserId = (subject: string | undefined): boolean =>
  subject !== undefined && USER_ID.test(subject);
