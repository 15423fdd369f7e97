import { monthOf, planOf, type TierLimits, type VideoPricing } from '@model-gateway/billing';
import { ServiceError, type RpcResult } from '@model-gateway/contracts';
import { accountState } from '../audit/account-state.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createBillingMethods(
  services: Services,
): Omit<HandlersOf<'billing'>, keyof HandlersOf<'billing.pricing'>> {
  const { plans, videoPricing, events, pointsPerUsd, clock, runtime } = services;
  const { fileEntries } = runtime.router;
  return {
    'billing.plan': async (_params, { user }) => {
      const month = monthOf(new Date(clock.now()));
      const [tiers, standing] = await Promise.all([plans.tiers(), plans.standing(user.id, month)]);
      if (standing === undefined) throw new ServiceError('not_found', 'user not found');
      const { usage, pointsBalance } = standing;
      const { currentTier, remaining, isQuotaExceeded } = planOf(tiers, standing);
      return {
        tiers: tiers.map((tier) => ({
          ...tierRecord(tier),
          ...fileEntries.markOf('tiers', tier.name),
        })),
        current_tier: currentTier,
        usage: { cost_usd: usage.costUsd, tokens: usage.tokens, requests: usage.requests },
        remaining: { cost_usd: remaining.costUsd, tokens: remaining.tokens },
        quota_exceeded: isQuotaExceeded,
        points_balance: pointsBalance,
        points_per_usd: pointsPerUsd,
      };
    },
    'billing.plan.set': {
      audit: {
        async target({ params }, stores) {
          const userId = await stores.userDirectory.findIdByEmail(params.user_email);
          return userId && `user:${userId}`;
        },
        async state({ params }, stores) {
          const userId = await stores.userDirectory.findIdByEmail(params.user_email);
          return userId && accountState(userId, stores);
        },
      },
      handle: async ({ user_email, tier }) => {
        const userId = await plans.assign(user_email, tier);
        await events.changed({ kind: 'user', userId });
        return { ok: true };
      },
    },
    'billing.tiers.set': {
      audit: {
        target: ({ params }) => `tier:${params.name}`,
        state: async ({ params }, stores) =>
          (await stores.plans.tiers()).find(({ name }) => name === params.name),
      },
      handle: async ({ name, monthly_usd_quota, monthly_token_quota, rpm }) => {
        await fileEntries.assertChangeable('tiers', name);
        await plans.saveTier(name, {
          monthlyUsdQuota: monthly_usd_quota,
          monthlyTokenQuota: monthly_token_quota,
          rpm,
        });
        await events.changed({ kind: 'tiers' });
        return { ok: true };
      },
    },
    'billing.video.pricing.get': async () => ({
      pricing: (await videoPricing.list()).map(pricingRecord),
    }),
    'billing.video.pricing.set': {
      audit: {
        target: ({ params }) => `video-price:${params.model}`,
        state: ({ params }, stores) => stores.videoPricing.find(params.model),
      },
      handle: async (pricing) => {
        await videoPricing.save({
          model: pricing.model,
          mode: pricing.mode,
          basePrice: pricing.base_price,
          pricePerSecond: pricing.price_per_second,
          pricePerFrame: pricing.price_per_frame,
          resolutionCoeff: pricing.resolution_coeff,
          currency: pricing.currency,
          enabled: pricing.enabled,
        });
        return { ok: true };
      },
    },
  };
}

const tierRecord = (tier: TierLimits): RpcResult<'billing.plan'>['tiers'][number] => ({
  name: tier.name,
  monthly_usd_quota: tier.monthlyUsdQuota,
  monthly_token_quota: tier.monthlyTokenQuota,
  rpm: tier.rpm,
});

function pricingRecord(
  pricing: VideoPricing,
): RpcResult<'billing.video.pricing.get'>['pricing'][number] {
  return {
    model: pricing.model,
    mode: pricing.mode,
    base_price: pricing.basePrice,
    price_per_second: pricing.pricePerSecond,
    price_per_frame: pricing.pricePerFrame,
    resolution_coeff: { ...pricing.resolutionCoeff },
    currency: pricing.currency,
    enabled: pricing.enabled,
  };
}
