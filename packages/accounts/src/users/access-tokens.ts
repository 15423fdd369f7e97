import { createSecretKey } from 'node:crypto';
import { newId, type Clock } from '@model-gateway/kernel';
import jwt from 'jsonwebtoken';

/** Signs and verifies the short-lived tokens of signed-in users. */
export interface AccessTokens {
  readonly expiresInSecs: number;
  sign(userId: string): string;
  /** The user's id, or undefined for a token that is expired, changed or not ours. */
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
  // Created once: with a text, the library would try to parse it as a public key for every token.
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
        // A token without an expiry or a valid user id was not issued by this service.
        return claims.exp === undefined || !isUserId(claims.sub) ? undefined : claims.sub;
      } catch {
        return undefined;
      }
    },
  };
}

const isUserId = (subject: string | undefined): boolean =>
  subject !== undefined && USER_ID.test(subject);
