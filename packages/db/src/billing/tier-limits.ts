import { FREE_TIER, type TierLimits } from '@model-gateway/billing';
import { arrayText } from '../connection/array-text.ts';
import type { RawQueries } from '../connection/connection.ts';

type TierRow = Omit<TierLimits, 'name'> & { readonly name: string | null };

/** The tier of each user, by user id: the free one if none is set or the user was deleted. */
export async function readTiers(
  queries: RawQueries,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, TierLimits>> {
  const rows = await queries.$queryRaw<TierRow[]>`
    SELECT
      tier.name,
      tier.monthly_usd_quota AS "monthlyUsdQuota",
      tier.monthly_token_quota::double precision AS "monthlyTokenQuota",
      tier.rpm
    FROM unnest(${arrayText(userIds)}::uuid[]) WITH ORDINALITY AS requested (user_id, position)
    LEFT JOIN users ON users.id = requested.user_id
    LEFT JOIN billing_tiers tier ON tier.name = coalesce(users.tier, ${FREE_TIER.name})
    ORDER BY requested.position`;
  return new Map(userIds.map((userId, index) => [userId, toLimits(rows[index])]));
}

function toLimits(row: TierRow | undefined): TierLimits {
  if (row === undefined || row.name === null) return FREE_TIER;
  return { ...row, name: row.name };
}
