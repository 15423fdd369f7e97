import type { RefreshTokenStore } from '@model-gateway/accounts';
import type { Connection } from './connection.ts';

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
  };
}
