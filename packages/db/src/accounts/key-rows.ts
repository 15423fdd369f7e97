import type {
  ApiKey,
  FoundKey,
  KeyHolder,
  KeyOwner,
  KeySettings,
  KeyPage,
} from '@model-gateway/accounts';
import { budgetWindowOf } from '@model-gateway/billing';
import { Prisma } from '../generated/client.ts';
import type { Queries } from '../connection/connection.ts';
import { readBudgets } from '../usage/budget-usage.ts';

interface ListedRow
  extends
    Omit<ApiKey, 'settings' | 'spentUsd'>,
    Omit<KeySettings, keyof SettingLists>,
    SettingLists {}

/** Null in rows that were written without them. */
interface SettingLists {
  readonly models: readonly string[] | null;
  readonly addresses: readonly string[] | null;
}

const SETTINGS = Prisma.sql`
  k.expires_at AS "expiresAt",
  k.budget_usd AS "budgetUsd",
  k.budget_period AS "budgetPeriod",
  k.rpm AS "rpm",
  k.tpm AS "tpm",
  k.models AS "models",
  k.addresses AS "addresses",
  k.metadata AS "metadata",
  k.log_bodies AS "logBodies",
  k.cache_ttl_secs AS "cacheTtlSecs"`;

/** The keys of a user, the newest first. Beyond the limit, revoked keys are left out before others. */
export const listKeys = (
  queries: Queries,
  userId: string,
  countMax: number,
  at: Date,
): Promise<readonly ApiKey[]> =>
  // Both parts are in the order of an index, so that no more revoked keys are read than are shown.
  readKeys(
    queries,
    Prisma.sql`
      SELECT * FROM (
        (${newestKeys(Prisma.sql`k.user_id = ${userId}::uuid AND k.revoked_at IS NULL`, countMax)})
        UNION ALL
        (${newestKeys(Prisma.sql`k.user_id = ${userId}::uuid AND k.revoked_at IS NOT NULL`, countMax)})
      ) AS k
      ORDER BY k.revoked_at IS NOT NULL, k.created_at DESC, k.id
      LIMIT ${countMax}`,
    at,
  );

/** A page of all keys of a user, the newest first. */
export const listKeyPage = (
  queries: Queries,
  userId: string,
  { before, countMax }: KeyPage,
  at: Date,
): Promise<readonly ApiKey[]> => {
  // A key of another user is followed by nothing, as one that does not exist.
  const createdAt = Prisma.sql`
    (SELECT created_at FROM api_keys WHERE id = ${before}::uuid AND user_id = ${userId}::uuid)`;
  const older =
    before === undefined
      ? Prisma.empty
      : Prisma.sql`
          AND k.created_at <= ${createdAt} AND (k.created_at < ${createdAt} OR k.id > ${before}::uuid)`;
  return readKeys(
    queries,
    newestKeys(Prisma.sql`k.user_id = ${userId}::uuid ${older}`, countMax),
    at,
  );
};

const newestKeys = (condition: Prisma.Sql, countMax: number): Prisma.Sql => Prisma.sql`
  SELECT * FROM api_keys k WHERE ${condition} ORDER BY k.created_at DESC, k.id LIMIT ${countMax}`;

/** One key; of that user, if one is named. */
export async function findKey(
  queries: Queries,
  keyId: string,
  at: Date,
  userId?: string,
): Promise<ApiKey | undefined> {
  const ofUser = userId === undefined ? Prisma.empty : Prisma.sql`AND user_id = ${userId}::uuid`;
  const selected = Prisma.sql`SELECT * FROM api_keys WHERE id = ${keyId}::uuid ${ofUser}`;
  return (await readKeys(queries, selected, at))[0];
}

/** The selected rows, with what the keys have spent of their budgets in the period of that time. */
async function readKeys(
  queries: Queries,
  selected: Prisma.Sql,
  at: Date,
): Promise<readonly ApiKey[]> {
  const rows = await queries.$queryRaw<ListedRow[]>`
    SELECT
      k.id AS "id",
      k.user_id AS "userId",
      k.group_id AS "groupId",
      k.name AS "name",
      k.key_prefix AS "keyPrefix",
      k.key_hint AS "keyHint",
      k.project AS "project",
      k.revoked_at IS NULL AND (k.group_id IS NULL OR COALESCE(m.is_active, false))
        AND COALESCE(k.expires_at > ${at}, true) AS "active",
      k.created_at AS "createdAt",
      k.last_used_at AS "lastUsedAt",
      k.revoked_at AS "revokedAt",
      CASE WHEN k.previous_until > ${at} THEN k.previous_until END AS "previousUntil",
      ${SETTINGS}
    FROM (${selected}) AS k
    LEFT JOIN group_members m ON m.group_id = k.group_id AND m.user_id = k.user_id
    ORDER BY k.created_at DESC, k.id`;
  const windows = rows.flatMap(({ id, budgetPeriod: period }) =>
    period === null ? [] : [budgetWindowOf(id, period, at)],
  );
  const budgets = await readBudgets(queries, windows);
  const spent = new Map(budgets.map(({ keyId, costUsd }) => [keyId, costUsd]));
  return rows.map((row) => toKey(row, spent.get(row.id) ?? 0));
}

/** The settings of a key that is not revoked, locked until the transaction ends. */
export async function lockSettings(
  queries: Queries,
  userId: string,
  keyId: string,
): Promise<KeySettings | undefined> {
  const rows = await queries.$queryRaw<(Omit<KeySettings, keyof SettingLists> & SettingLists)[]>`
    SELECT ${SETTINGS}
    FROM api_keys k
    WHERE k.id = ${keyId}::uuid AND k.user_id = ${userId}::uuid AND k.revoked_at IS NULL
    FOR NO KEY UPDATE OF k`;
  return rows[0] && toSettings(rows[0]);
}

/** The settings as columns. */
export const settingColumns = ({ metadata, models, addresses, ...settings }: KeySettings) => ({
  ...settings,
  models: [...models],
  addresses: [...addresses],
  metadata: metadata === null ? Prisma.DbNull : (metadata as Prisma.InputJsonObject),
});

interface FoundRow
  extends KeyHolder, KeyOwner, Omit<KeySettings, keyof SettingLists>, SettingLists {
  readonly tier: string | null;
  readonly monthlyUsdQuota: number | null;
  readonly monthlyTokenQuota: bigint | null;
  readonly tierRpm: number | null;
  readonly groupRpm: number | null;
  readonly costMultiplier: number;
  readonly previousUntil: Date | null;
  readonly isReplaced: boolean;
}

/** The holder of a key, by the hash of its secret or of the one before. */
export async function findHolder(queries: Queries, keyHash: string): Promise<FoundKey | undefined> {
  const rows = await queries.$queryRaw<FoundRow[]>`
    SELECT
      k.id AS "keyId",
      k.user_id AS "userId",
      k.group_id AS "groupId",
      k.key_prefix AS "keyPrefix",
      k.project AS "project",
      u.email AS "email",
      u.is_admin AS "isAdmin",
      k.previous_until AS "previousUntil",
      k.key_hash <> ${keyHash} AS "isReplaced",
      ${SETTINGS},
      t.name AS "tier",
      t.monthly_usd_quota AS "monthlyUsdQuota",
      t.monthly_token_quota AS "monthlyTokenQuota",
      t.rpm AS "tierRpm",
      g.rpm_ceiling AS "groupRpm",
      COALESCE(m.cost_multiplier, 1) AS "costMultiplier"
    FROM api_keys k
    JOIN users u ON u.id = k.user_id
    LEFT JOIN billing_tiers t ON t.name = COALESCE(u.tier, 'free')
    LEFT JOIN groups g ON g.id = k.group_id
    LEFT JOIN group_members m ON m.group_id = k.group_id AND m.user_id = k.user_id
    WHERE (k.key_hash = ${keyHash} OR k.previous_hash = ${keyHash})
      AND k.revoked_at IS NULL
      AND u.is_active
      AND (k.group_id IS NULL OR m.is_active)`;
  return rows[0] && toFoundKey(rows[0]);
}

function toFoundKey(row: FoundRow): FoundKey {
  const { keyId, userId, groupId, keyPrefix, project } = row;
  const { tier, monthlyUsdQuota, monthlyTokenQuota, tierRpm, groupRpm, costMultiplier } = row;
  const { isReplaced, previousUntil, email, isAdmin } = row;
  return {
    holder: { keyId, userId, groupId, keyPrefix, project },
    owner: { email, isAdmin },
    limits: {
      tier: {
        name: tier ?? 'free',
        monthlyUsdQuota,
        monthlyTokenQuota: monthlyTokenQuota === null ? null : Number(monthlyTokenQuota),
        rpm: tierRpm,
      },
      groupRpm,
      costMultiplier,
    },
    settings: toSettings(row),
    replacedUntil: isReplaced ? previousUntil : null,
  };
}

function toKey(row: ListedRow, spentUsd: number): ApiKey {
  const { id, userId, groupId, name, keyPrefix, keyHint, project, active } = row;
  const { createdAt, lastUsedAt, revokedAt, previousUntil } = row;
  return {
    id,
    userId,
    groupId,
    name,
    keyPrefix,
    keyHint,
    project,
    active,
    createdAt,
    lastUsedAt,
    revokedAt,
    previousUntil,
    spentUsd,
    settings: toSettings(row),
  };
}

function toSettings(row: Omit<KeySettings, keyof SettingLists> & SettingLists): KeySettings {
  const { expiresAt, budgetUsd, budgetPeriod, rpm, tpm, metadata, logBodies, cacheTtlSecs } = row;
  return {
    expiresAt,
    budgetUsd,
    budgetPeriod,
    rpm,
    tpm,
    models: row.models ?? [],
    addresses: row.addresses ?? [],
    metadata,
    logBodies,
    cacheTtlSecs,
  };
}
