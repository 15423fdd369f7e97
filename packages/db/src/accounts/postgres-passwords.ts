import type { PasswordSet, PasswordStore } from '@model-gateway/accounts';
import type { Connection } from '../connection/connection.ts';
import { Prisma } from '../generated/client.ts';
import { madeByAdmin } from './made-by-admin.ts';
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

    saveReset: ({ userId, tokenHash, expiresAt, createdById }) =>
      connection.run(async (queries) => {
        const saved = await queries.$executeRaw`
          INSERT INTO password_resets (user_id, token_hash, expires_at, created_by)
          SELECT id, ${tokenHash}, ${expiresAt}, ${createdById ?? null}::uuid FROM users
          WHERE id = ${userId}::uuid AND is_active
          FOR SHARE
          ON CONFLICT (user_id) DO UPDATE
          SET token_hash = EXCLUDED.token_hash, expires_at = EXCLUDED.expires_at,
            created_by = EXCLUDED.created_by`;
        return saved > 0;
      }),

    hasReset: (tokenHash, now) =>
      connection.run(async (queries) => {
        const found = await queries.$queryRaw<unknown[]>`
          SELECT 1 FROM password_resets r JOIN users u ON u.id = r.user_id
          WHERE r.token_hash = ${tokenHash} AND r.expires_at > ${now} AND u.is_active
            AND ${madeByAdmin(Prisma.sql`r.created_by`)}`;
        return found.length > 0;
      }),

    useReset: ({ tokenHash, nextHash, now }) =>
      connection.transaction(async (queries): Promise<PasswordSet | undefined> => {
        // Of concurrent uses one deletes the row; the others wait for it and find none.
        const [used] = await queries.$queryRaw<{ userId: string }[]>`
          DELETE FROM password_resets
          WHERE token_hash = ${tokenHash} AND expires_at > ${now}
            AND ${madeByAdmin(Prisma.sql`created_by`)}
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
