import { NO_KEY_SETTINGS, type KeyStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection, Queries } from '../connection/connection.ts';
import { findHolder, findKey, listKeys, lockSettings, settingColumns } from './key-rows.ts';
import { lockUser } from './lock-user.ts';

export function createPostgresKeys(connection: Connection): KeyStore {
  return {
    create: ({ settings = NO_KEY_SETTINGS, ...key }, activeMax) =>
      connection.transaction(async (queries) => {
        const { keyHash, ...shown } = key;
        if (activeMax !== undefined) await assertFew(queries, key.userId, activeMax);
        const { createdAt } = await queries.apiKey.create({
          data: { ...shown, keyHash, ...settingColumns(settings) },
          select: { createdAt: true },
        });
        return {
          ...shown,
          active: true,
          createdAt,
          lastUsedAt: null,
          revokedAt: null,
          settings,
          spentUsd: 0,
          previousUntil: null,
        };
      }),

    list: (userId, countMax, at) =>
      connection.run((queries) => listKeys(queries, userId, countMax, at)),

    find: (keyId, at) => connection.run((queries) => findKey(queries, keyId, at)),

    update: (userId, keyId, change, { name, at }) =>
      connection.transaction(async (queries) => {
        const settings = await lockSettings(queries, userId, keyId);
        if (settings === undefined) return undefined;
        const named = name === undefined ? {} : { name };
        const data = { ...named, ...settingColumns(change(settings)) };
        await queries.apiKey.updateMany({ where: { id: keyId }, data });
        return findKey(queries, keyId, at, userId);
      }),

    rotate: (userId, keyId, { keyHash, keyHint, previousUntil }, at) =>
      connection.transaction(async (queries) => {
        const rotated = await queries.$executeRaw`
          UPDATE api_keys SET
            key_hash = ${keyHash},
            key_hint = ${keyHint},
            previous_hash = CASE WHEN ${previousUntil}::timestamptz IS NOT NULL THEN key_hash END,
            previous_until = ${previousUntil}
          WHERE id = ${keyId}::uuid AND user_id = ${userId}::uuid AND revoked_at IS NULL`;
        return rotated === 0 ? undefined : findKey(queries, keyId, at, userId);
      }),

    revoke: (userId, keyId, at) =>
      connection.run(async (queries) => {
        const found = await queries.$executeRaw`
          UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ${at})
          WHERE id = ${keyId}::uuid AND user_id = ${userId}::uuid`;
        return found > 0;
      }),

    findHolder: (keyHash) => connection.run((queries) => findHolder(queries, keyHash)),
  };
}

/** Counts every key that is not revoked: one that does not work now can work again, as with a membership. */
async function assertFew(queries: Queries, userId: string, activeMax: number): Promise<void> {
  await lockUser(queries, userId);
  const [row] = await queries.$queryRaw<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM (
      SELECT 1 FROM api_keys
      WHERE user_id = ${userId}::uuid AND revoked_at IS NULL
      LIMIT ${activeMax}
    ) AS active`;
  if ((row?.count ?? 0) < activeMax) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `too many active keys: at most ${activeMax} per user. ` +
      'Revoke one first; an operator raises the limit with SERVICE_MAX_KEYS_PER_USER.',
  );
}
