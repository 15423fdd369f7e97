import { createSecretKey } from 'node:crypto';
import { newId, type Clock } from '@model-gateway/kernel';
import jwt from 'jsonwebtoken';
import type { SignIn } from './sign-in.ts';

/** Signs and verifies the short-lived tokens of signed-in users. */
export interface AccessTokens {
  readonly expiresInSecs: number;
  /** Tokens of one sign-in carry its family, so that they end with it. */
  sign(userId: string, familyId?: string): string;
  /** Undefined for a token that is expired, changed or not ours. */
  verify(token: string): SignIn | undefined;
}

interface AccessTokenOptions {
  readonly secret: string;
  readonly expiresInSecs: number;
  readonly clock: Clock;
}

const ALGORITHM = 'HS256';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
    sign(userId, familyId) {
      const iat = nowSecs();
      const claims = {
        sub: userId,
        iat,
        exp: iat + expiresInSecs,
        jti: newId(),
        typ: 'access',
        ...(familyId === undefined ? {} : { sid: familyId }),
      };
      return jwt.sign(claims, key, { algorithm: ALGORITHM });
    },
    verify(token) {
      try {
        const claims = jwt.verify(token, key, {
          algorithms: [ALGORITHM],
          clockTimestamp: nowSecs(),
        });
        if (typeof claims === 'string' || claims['typ'] !== 'access') return undefined;
        const { exp, sub: userId, sid: familyId } = claims as jwt.JwtPayload & { sid?: unknown };
        // A token without an expiry or valid ids was not issued by this service.
        if (exp === undefined || !isId(userId)) return undefined;
        if (familyId !== undefined && !isId(familyId)) return undefined;
        return { userId, familyId };
      } catch {
        return undefined;
      }
    },
  };
}

const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value);
