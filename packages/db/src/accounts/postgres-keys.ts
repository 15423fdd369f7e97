import type { ApiKey, FoundKey, KeyHolder, KeyStore } from '@model-gateway/accounts';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection, Queries } from '../connection/connection.ts';
import { lockUser } from './lock-user.ts';

export function createPostgresKeys(connection: Connection): KeyStore {
  return {
    create: ({ id, userId, groupId, name, keyHash, keyPrefix, keyHint, project }, activeMax) =>
      connection.transaction(async (queries) => {
        if (activeMax !== undefined) await assertFew(queries, userId, activeMax);
        const key = await queries.apiKey.create({
          data: { id, userId, groupId, name, keyHash, keyPrefix, keyHint, project },
          omit: { keyHash: true },
        });
        return { ...key, active: true };
      }),

    list: (userId, countMax) =>
      connection.run(
        (queries) => queries.$queryRaw<ApiKey[]>`
          SELECT
            k.id AS "id",
            k.user_id AS "userId",
            k.group_id AS "groupId",
            k.name AS "name",
            k.key_prefix AS "keyPrefix",
            k.key_hint AS "keyHint",
            k.project AS "project",
            k.revoked_at IS NULL AND (k.group_id IS NULL OR COALESCE(m.is_active, false)) AS "active",
            k.created_at AS "createdAt",
            k.last_used_at AS "lastUsedAt",
            k.revoked_at AS "revokedAt"
          FROM api_keys k
          LEFT JOIN group_members m ON m.group_id = k.group_id AND m.user_id = k.user_id
          WHERE k.user_id = ${userId}::uuid
          ORDER BY k.created_at DESC, k.id
          LIMIT ${countMax}`,
      ),

    revoke: (userId, keyId, at) =>
      connection.run(async (queries) => {
        const found = await queries.$executeRaw`
          UPDATE api_keys SET revoked_at = COALESCE(revoked_at, ${at})
          WHERE id = ${keyId}::uuid AND user_id = ${userId}::uuid`;
        return found > 0;
      }),

    findHolder: (keyHash) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<FoundRow[]>`
          SELECT
            k.id AS "keyId",
            k.user_id AS "userId",
            k.group_id AS "groupId",
            k.key_prefix AS "keyPrefix",
            k.project AS "project",
            t.name AS "tier",
            t.monthly_usd_quota AS "monthlyUsdQuota",
            t.monthly_token_quota AS "monthlyTokenQuota",
            t.rpm AS "rpm",
            g.rpm_ceiling AS "groupRpm",
            COALESCE(m.cost_multiplier, 1) AS "costMultiplier"
          FROM api_keys k
          JOIN users u ON u.id = k.user_id
          LEFT JOIN billing_tiers t ON t.name = COALESCE(u.tier, 'free')
          LEFT JOIN groups g ON g.id = k.group_id
          LEFT JOIN group_members m ON m.group_id = k.group_id AND m.user_id = k.user_id
          WHERE k.key_hash = ${keyHash}
            AND k.revoked_at IS NULL
            AND u.is_active
            AND (k.group_id IS NULL OR m.is_active)`;
        return rows[0] && toFoundKey(rows[0]);
      }),
  };
}

async function assertFew(queries: Queries, userId: string, activeMax: number): Promise<void> {
  await lockUser(queries, userId);
  const [row] = await queries.$queryRaw<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM (
      SELECT 1
      FROM api_keys k
      LEFT JOIN group_members m ON m.group_id = k.group_id AND m.user_id = k.user_id
      WHERE k.user_id = ${userId}::uuid AND k.revoked_at IS NULL
        AND (k.group_id IS NULL OR COALESCE(m.is_active, false))
      LIMIT ${activeMax}
    ) AS active`;
  if ((row?.count ?? 0) < activeMax) return;
  throw new ServiceError(
    'rate_limit_exceeded',
    `too many active keys: at most ${activeMax} per user; revoke one first`,
  );
}

interface FoundRow extends KeyHolder {
  readonly tier: string | null;
  readonly monthlyUsdQuota: number | null;
  readonly monthlyTokenQuota: bigint | null;
  readonly rpm: number | null;
  readonly groupRpm: number | null;
  readonly costMultiplier: number;
}

function toFoundKey(row: FoundRow): FoundKey {
  const { tier, monthlyUsdQuota, monthlyTokenQuota, rpm, groupRpm, costMultiplier, ...holder } =
    row;
  return {
    holder,
    limits: {
      tier: {
        name: tier ?? 'free',
        monthlyUsdQuota,
        monthlyTokenQuota: monthlyTokenQuota === null ? null : Number(monthlyTokenQuota),
        rpm,
      },
      groupRpm,
      costMultiplier,
    },
  };
}
