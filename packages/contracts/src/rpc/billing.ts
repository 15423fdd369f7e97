import { z } from 'zod';
import { method } from './method.ts';
import { done, email, label, modelId } from './records.ts';

const price = z.number().min(0);
const videoMode = z.enum(['per_call', 'per_second_resolution', 'per_frame']);

const tier = z.object({
  name: z.string(),
  monthly_usd_quota: z.number().nullable(),
  monthly_token_quota: z.int().nullable(),
  rpm: z.int().nullable(),
});

export const billingMethods = {
  'billing.plan': method({
    auth: 'jwt',
    summary: 'The tiers, yours, what you used this month and what is left.',
    params: z.object({}),
    result: z.object({
      tiers: z.array(tier),
      current_tier: z.string(),
      usage: z.object({ cost_usd: z.number(), tokens: z.int(), requests: z.int() }),
      remaining: z.object({ cost_usd: z.number().nullable(), tokens: z.int().nullable() }),
      quota_exceeded: z.boolean(),
      points_balance: z.int(),
      points_per_usd: z.number(),
    }),
  }),
  'billing.plan.set': method({
    auth: 'admin-token',
    summary: 'Put a user on a tier.',
    params: z.object({ user_email: email, tier: label }),
    result: done,
  }),
  'billing.video.pricing.get': method({
    auth: 'jwt',
    summary: 'What video costs, by model.',
    params: z.object({}),
    result: z.object({
      pricing: z.array(
        z.object({
          model: z.string(),
          mode: videoMode,
          base_price: z.number(),
          price_per_second: z.number(),
          price_per_frame: z.number(),
          resolution_coeff: z.record(z.string(), z.number()),
          currency: z.string(),
          enabled: z.boolean(),
        }),
      ),
    }),
  }),
  'billing.video.pricing.set': method({
    auth: 'admin-token',
    summary: 'Set what video costs on a model.',
    params: z.object({
      model: modelId,
      mode: videoMode.default('per_second_resolution'),
      base_price: price.default(0),
      price_per_second: price.default(0),
      price_per_frame: price.default(0),
      resolution_coeff: z
        .record(z.string().regex(/^(\*|\d{1,5})$/, 'keys are short sides in pixels, or *'), price)
        .default({})
        .describe('multipliers by short side in pixels, `*` for any other'),
      currency: z.string().length(3).default('USD'),
      enabled: z.boolean().default(true),
    }),
    result: done,
  }),
};
