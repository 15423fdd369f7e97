import type { PasswordSet, PasswordStore } from '@model-gateway/accounts';
import type { Connection } from '../connection/connection.ts';
import { revokeSignIns } from './postgres-refresh-tokens.ts';

/** Passwords and reset links in Postgres. */
export function createPostgresPasswords(connection: Connection): PasswordStore {
  return {
    change: ({ userId, currentHash, nextHash, keptFamilyId, now }) =>
      connection.transaction(async (queries): Promise<PasswordSet | undefined> => {
        const { count } = await queries.user.updateMany({
          where: { id: userId, isActive: true, passwordHash: currentHash },
          data: { passwordHash: nextHash },
        });
        if (count === 0) return undefined;
        // A link that was made before the change must not undo it.
        await queries.passwordReset.deleteMany({ where: { userId } });
        const endedFamilyIds = await revokeSignIns(queries, userId, now, keptFamilyId);
        return { userId, endedFamilyIds };
      }),

    saveReset: ({ userId, tokenHash, expiresAt }) =>
      connection.run(async (queries) => {
        const saved = await queries.$executeRaw`
          INSERT INTO password_resets (user_id, token_hash, expires_at)
          SELECT id, ${tokenHash}, ${expiresAt} FROM users
          WHERE id = ${userId}::uuid AND is_active
          FOR SHARE
          ON CONFLICT (user_id) DO UPDATE
          SET token_hash = EXCLUDED.token_hash, expires_at = EXCLUDED.expires_at`;
        return saved > 0;
      }),

    hasReset: (tokenHash, now) =>
      connection.run(async (queries) => {
        const where = { tokenHash, expiresAt: { gt: now }, user: { isActive: true } };
        const found = await queries.passwordReset.findFirst({ where, select: { userId: true } });
        return found !== null;
      }),

    useReset: ({ tokenHash, nextHash, now }) =>
      connection.transaction(async (queries): Promise<PasswordSet | undefined> => {
        // Of concurrent uses one deletes the row; the others wait for it and find none.
        const [used] = await queries.$queryRaw<{ userId: string }[]>`
          DELETE FROM password_resets WHERE token_hash = ${tokenHash} AND expires_at > ${now}
          RETURNING user_id AS "userId"`;
        if (used === undefined) return undefined;
        const { userId } = used;
        const { count } = await queries.user.updateMany({
          where: { id: userId, isActive: true },
          data: { passwordHash: nextHash },
        });
        if (count === 0) return undefined;
        return { userId, endedFamilyIds: await revokeSignIns(queries, userId, now) };
      }),
  };
}
