import type { KeyHolder, KeyStore } from '@model-gateway/accounts';
import type { Connection } from './connection.ts';

/** API keys in Postgres. */
export function createPostgresKeys(connection: Connection): KeyStore {
  return {
    create: ({ id, userId, groupId, name, keyHash, keyPrefix, keyHint, project }) =>
      connection.run((queries) =>
        queries.apiKey.create({
          data: { id, userId, groupId, name, keyHash, keyPrefix, keyHint, project },
          omit: { keyHash: true },
        }),
      ),

    findHolder: (keyHash) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<KeyHolder[]>`
          SELECT
            k.id AS "keyId",
            k.user_id AS "userId",
            k.group_id AS "groupId",
            k.key_prefix AS "keyPrefix",
            k.project AS "project"
          FROM api_keys k
          LEFT JOIN group_members m ON m.group_id = k.group_id AND m.user_id = k.user_id
          WHERE k.key_hash = ${keyHash}
            AND k.revoked_at IS NULL
            AND (k.group_id IS NULL OR m.is_active)`;
        return rows[0];
      }),
  };
}
