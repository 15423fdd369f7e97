import type { RefreshTokenStore, Rotation } from '@model-gateway/accounts';
import type { Connection, Queries } from '../connection/connection.ts';

/** Refresh tokens in Postgres. */
export function createPostgresRefreshTokens(connection: Connection): RefreshTokenStore {
  return {
    save: ({ tokenHash, familyId, userId, expiresAt }) =>
      connection.run(async (queries) => {
        await queries.refreshToken.create({
          data: { tokenHash, familyId, userId, expiresAt },
          select: { tokenHash: true },
        });
      }),

    rotate: ({ tokenHash, successorHash, successorExpiresAt, now }) =>
      connection.transaction(async (queries): Promise<Rotation> => {
        if (!(await lockFamilyOf(queries, tokenHash))) return { outcome: 'unknown' };
        const token = await queries.refreshToken.findUnique({ where: { tokenHash } });
        if (token === null) return { outcome: 'unknown' };
        const { userId, familyId } = token;
        if (token.usedAt !== null || token.revokedAt !== null) {
          await queries.refreshToken.updateMany({
            where: { familyId, revokedAt: null },
            data: { revokedAt: now },
          });
          return { outcome: 'reused', userId };
        }
        if (token.expiresAt <= now) return { outcome: 'expired' };
        await queries.refreshToken.update({
          where: { tokenHash },
          data: { usedAt: now },
          select: { tokenHash: true },
        });
        await queries.refreshToken.create({
          data: { tokenHash: successorHash, familyId, userId, expiresAt: successorExpiresAt },
          select: { tokenHash: true },
        });
        return { outcome: 'rotated', userId };
      }),

    removeExpired: (before, countMax) =>
      connection.run(async (queries) => {
        await queries.$executeRaw`
          DELETE FROM refresh_tokens WHERE token_hash IN (
            SELECT token_hash FROM refresh_tokens
            WHERE expires_at < ${before}
            ORDER BY expires_at
            LIMIT ${countMax}
            FOR UPDATE SKIP LOCKED
          )`;
      }),
  };
}

/**
 * Serializes the transactions on a token family. A lock on the row of the token is not enough: a revocation would miss
 * the successor that another transaction is adding.
 */
async function lockFamilyOf(queries: Queries, tokenHash: string): Promise<boolean> {
  const token = await queries.refreshToken.findUnique({
    where: { tokenHash },
    select: { familyId: true },
  });
  if (token === null) return false;
  await queries.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${token.familyId}, 0))`;
  return true;
}
