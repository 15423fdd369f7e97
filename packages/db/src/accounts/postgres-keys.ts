import { NO_KEY_SETTINGS, type KeySettings, type KeyStore } from '@model-gateway/accounts';
import { budgetWindowOf } from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection, Queries } from '../connection/connection.ts';
import {
  findHolder,
  findKey,
  listKeyPage,
  listKeys,
  lockSettings,
  settingColumns,
} from './key-rows.ts';
import { lockUser } from './lock-user.ts';
import { holdGroup } from './postgres-groups.ts';
import { forgetUnreached, storeThresholds } from '../usage/budget-thresholds.ts';
import { forgetBudgetLines, readBudgets } from '../usage/budget-usage.ts';

export function createPostgresKeys(connection: Connection): KeyStore {
  return {
    create: ({ settings = NO_KEY_SETTINGS, ...key }, activeMax) =>
      connection.transaction(async (queries) => {
        const { keyHash, ...shown } = key;
        if (activeMax !== undefined) await assertBelowLimit(queries, key.userId, activeMax);
        if (key.groupId !== null) await assertMember(queries, key.groupId, key.userId);
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

    listPage: (userId, page, at) =>
      connection.run((queries) => listKeyPage(queries, userId, page, at)),

    find: (keyId, at) => connection.run((queries) => findKey(queries, keyId, at)),

    update: (userId, keyId, change, { name, at }) =>
      connection.transaction(async (queries) => {
        const settings = await lockSettings(queries, userId, keyId);
        if (settings === undefined) return undefined;
        const named = name === undefined ? {} : { name };
        const changed = change(settings);
        const data = { ...named, ...settingColumns(changed) };
        await queries.apiKey.updateMany({ where: { id: keyId }, data });
        if (changed.budgetPeriod !== settings.budgetPeriod) await forgetBudgetLines(queries, keyId);
        await reportSpentBudget(queries, keyId, changed, at);
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

/**
 * Stores the thresholds that a new budget has reached already: a key that is refused spends nothing more that would report
 * them.
 */
async function reportSpentBudget(
  queries: Queries,
  keyId: string,
  { budgetPeriod }: KeySettings,
  at: Date,
): Promise<void> {
  if (budgetPeriod === null) return;
  const window = budgetWindowOf(keyId, budgetPeriod, at);
  const budgets = await readBudgets(queries, [window]);
  for (const budget of budgets) await forgetUnreached(queries, budget);
  await storeThresholds(queries, budgets);
}

/** Locks group and membership until the key is stored: a removal that waits for the lock then revokes the key. */
async function assertMember(queries: Queries, groupId: string, userId: string): Promise<void> {
  const members = (await holdGroup(queries, groupId))
    ? await queries.$queryRaw<unknown[]>`
        SELECT 1 FROM group_members
        WHERE group_id = ${groupId}::uuid AND user_id = ${userId}::uuid AND is_active
        FOR KEY SHARE`
    : [];
  if (members.length === 0) throw new ServiceError('not_found', 'group not found');
}

/** Counts every key that is not revoked: one that does not work now can work again, such as when its membership is activated. */
async function assertBelowLimit(
  queries: Queries,
  userId: string,
  activeMax: number,
): Promise<void> {
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
