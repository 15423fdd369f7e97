import { FREE_TIER, type PlanStanding, type PlanStore } from '@model-gateway/billing';
import { ServiceError } from '@model-gateway/contracts';
import type { Connection } from '../connection/connection.ts';

/** Tiers and the tier of each user, in Postgres. */
export function createPostgresPlans(connection: Connection): PlanStore {
  return {
    tiers: () =>
      connection.run(async (queries) => {
        const rows = await queries.billingTier.findMany({
          orderBy: [
            { monthlyUsdQuota: { sort: 'asc', nulls: 'last' } },
            { monthlyTokenQuota: { sort: 'asc', nulls: 'last' } },
            { rpm: { sort: 'asc', nulls: 'last' } },
            { name: 'asc' },
          ],
          select: { name: true, monthlyUsdQuota: true, monthlyTokenQuota: true, rpm: true },
        });
        return rows.map(({ monthlyTokenQuota, ...tier }) => ({
          ...tier,
          monthlyTokenQuota: monthlyTokenQuota === null ? null : Number(monthlyTokenQuota),
        }));
      }),

    saveTier: (name, { monthlyUsdQuota, monthlyTokenQuota, rpm }) =>
      connection.run(async (queries) => {
        const limits = {
          ...(monthlyUsdQuota === undefined ? {} : { monthlyUsdQuota }),
          ...(monthlyTokenQuota === undefined ? {} : { monthlyTokenQuota }),
          ...(rpm === undefined ? {} : { rpm }),
        };
        await queries.billingTier.upsert({
          where: { name },
          create: { name, ...limits },
          update: limits,
          select: { name: true },
        });
      }),

    removeTier: (name) =>
      connection.run(async (queries) => {
        await queries.billingTier.deleteMany({ where: { name } });
      }),

    assign: (email, tierName) =>
      connection.transaction(async (queries) => {
        const user = await queries.user.findUnique({ where: { email }, select: { id: true } });
        if (user === null) throw new ServiceError('not_found', 'user not found');
        const tier = await queries.billingTier.findUnique({ where: { name: tierName } });
        if (tier === null) throw new ServiceError('not_found', 'tier not found');
        await queries.user.update({
          where: { id: user.id },
          data: { tierName },
          select: { id: true },
        });
        return user.id;
      }),

    standing: (userId, month) =>
      connection.run(async (queries) => {
        const rows = await queries.$queryRaw<StandingRow[]>`
          SELECT
            COALESCE(u.tier, ${FREE_TIER.name}) AS "tierName",
            COALESCE(used.tier_cost, 0)::float8 AS cost,
            COALESCE(used.tier_tokens, 0) AS tokens,
            COALESCE(used.requests, 0) AS requests,
            COALESCE(wallet.balance, 0) AS "pointsBalance"
          FROM users u
          LEFT JOIN quota_usage used ON used.user_id = u.id AND used.month + 0 = ${`${month}-01`}::date
          LEFT JOIN ledger_accounts wallet ON wallet.owner_type = 'user' AND wallet.owner_id = u.id
          WHERE u.id = ${userId}::uuid`;
        return rows[0] === undefined ? undefined : standingOf(rows[0]);
      }),
  };
}

interface StandingRow {
  readonly tierName: string;
  readonly cost: number;
  readonly tokens: bigint;
  readonly requests: bigint;
  readonly pointsBalance: bigint;
}

const standingOf = ({ tierName, cost, ...counts }: StandingRow): PlanStanding => ({
  tierName,
  usage: { costUsd: cost, tokens: Number(counts.tokens), requests: Number(counts.requests) },
  pointsBalance: Number(counts.pointsBalance),
});
