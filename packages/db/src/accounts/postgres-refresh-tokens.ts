import type { RefreshTokenStore, Rotation } from '@model-gateway/accounts';
import type { Connection, Queries } from '../connection/connection.ts';

/** Refresh tokens in Postgres. */
export function createPostgresRefreshTokens(connection: Connection): RefreshTokenStore {
  return {
    save: ({ tokenHash, familyId, userId, expiresAt }, passwordHash) =>
      connection.run(async (queries) => {
        // Waits for a change of the password or the account that is under way, which then ends this sign-in or refuses it.
        const saved = await queries.$executeRaw`
          INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at)
          SELECT ${tokenHash}, ${familyId}::uuid, id, ${expiresAt} FROM users
          WHERE id = ${userId}::uuid AND is_active
            AND password_hash = COALESCE(${passwordHash ?? null}, password_hash)
          FOR SHARE`;
        return saved > 0;
      }),

    rotate: ({ tokenHash, successorHash, successorExpiresAt, now, repeatableMs = 0 }) =>
      connection.transaction(async (queries): Promise<Rotation> => {
        const familyId = await familyOf(queries, tokenHash);
        if (familyId === undefined) return { outcome: 'unknown' };
        await lockFamily(queries, familyId);
        const token = await queries.refreshToken.findUnique({ where: { tokenHash } });
        if (token === null) return { outcome: 'unknown' };
        const { userId } = token;
        if (token.usedAt !== null || token.revokedAt !== null) {
          const isRecent =
            token.usedAt !== null && now.getTime() - token.usedAt.getTime() < repeatableMs;
          if (isRecent && (await isUsable(queries, familyId, successorHash)))
            return { outcome: 'rotated', userId, familyId };
          await revokeLocked(queries, familyId, now);
          return { outcome: 'reused', userId, familyId };
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
        return { outcome: 'rotated', userId, familyId };
      }),

    revokeFamily: (familyId, now) =>
      connection.transaction(async (queries) => {
        await lockFamily(queries, familyId);
        await revokeLocked(queries, familyId, now);
      }),

    async revokeUser(userId, now) {
      const families = await connection.run((queries) =>
        queries.refreshToken.findMany({
          where: { userId, usedAt: null, revokedAt: null },
          select: { familyId: true },
          distinct: ['familyId'],
        }),
      );
      const ids = families.map(({ familyId }) => familyId);
      for (const familyId of ids) {
        await connection.transaction(async (queries) => {
          await lockFamily(queries, familyId);
          await revokeLocked(queries, familyId, now);
        });
      }
      return ids;
    },

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

/** Ends the sign-ins of a user inside a transaction, but for one; returns those that were usable. */
export async function revokeSignIns(
  queries: Queries,
  userId: string,
  now: Date,
  keptFamilyId?: string,
): Promise<readonly string[]> {
  const rows = await queries.refreshToken.findMany({
    where: { userId, usedAt: null, revokedAt: null },
    select: { familyId: true },
    distinct: ['familyId'],
    // Locked in one order, so that two transactions do not wait for each other.
    orderBy: { familyId: 'asc' },
  });
  const ended = rows.map(({ familyId }) => familyId).filter((id) => id !== keptFamilyId);
  for (const familyId of ended) {
    await lockFamily(queries, familyId);
    await revokeLocked(queries, familyId, now);
  }
  return ended;
}

async function familyOf(queries: Queries, tokenHash: string): Promise<string | undefined> {
  const token = await queries.refreshToken.findUnique({
    where: { tokenHash },
    select: { familyId: true },
  });
  return token?.familyId;
}

async function isUsable(queries: Queries, familyId: string, tokenHash: string): Promise<boolean> {
  const token = await queries.refreshToken.findUnique({
    where: { tokenHash, familyId, usedAt: null, revokedAt: null },
    select: { tokenHash: true },
  });
  return token !== null;
}

/**
 * Serializes the transactions on a token family. A lock on the row of the token is not enough: a revocation would miss
 * the successor that another transaction is adding.
 */
async function lockFamily(queries: Queries, familyId: string): Promise<void> {
  await queries.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${familyId}, 0))`;
}

async function revokeLocked(queries: Queries, familyId: string, now: Date): Promise<void> {
  await queries.refreshToken.updateMany({
    where: { familyId, revokedAt: null },
    data: { revokedAt: now },
  });
}
