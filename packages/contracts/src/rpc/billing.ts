import { z } from 'zod';
import { boundedRecord } from '../bounded-record.ts';
import { method } from './method.ts';
import { done, email, label, modelId, text } from './records.ts';

const RESOLUTIONS_MAX = 100;
const TIER_NAME_CHARS_MAX = 64;
const PATTERN_CHARS_MAX = 128;
const RPM_MAX = 1_000_000;

const PRICE_MAX = 1_000_000;

const price = z.number().min(0).max(PRICE_MAX);
const tokenPrice = price
  .nullable()
  .describe('USD per million tokens; null for both prices removes the override');
const unlimitedIfNull = 'null for unlimited; unchanged when omitted';
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
    summary: 'The tiers, your current tier, your usage this month and what remains.',
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
    summary: 'Set the tier of a user.',
    params: z.object({ user_email: email, tier: label }),
    result: done,
  }),
  'billing.tiers.set': method({
    auth: 'admin-token',
    summary: 'Add or change a tier; it applies from the next request on.',
    isExtension: true,
    params: z.object({
      name: text(TIER_NAME_CHARS_MAX).min(1),
      monthly_usd_quota: z.number().min(0).nullable().optional().describe(unlimitedIfNull),
      monthly_token_quota: z.int().min(0).nullable().optional().describe(unlimitedIfNull),
      rpm: z.int().min(0).max(RPM_MAX).nullable().optional().describe(unlimitedIfNull),
    }),
    result: done,
  }),
  'billing.pricing.get': method({
    auth: 'jwt',
    summary: 'The token prices. A model whose id contains none of the patterns has no price.',
    isExtension: true,
    params: z.object({}),
    result: z.object({
      pricing: z.array(
        z.object({
          pattern: z.string(),
          input_per_million: z.number(),
          output_per_million: z.number(),
          source: z.enum(['built-in', 'override']),
        }),
      ),
    }),
  }),
  'billing.pricing.set': method({
    auth: 'admin-token',
    summary: 'Override the built-in price of the models whose ids contain the pattern.',
    isExtension: true,
    params: z
      .object({
        pattern: text(PATTERN_CHARS_MAX).min(1).toLowerCase(),
        input_per_million: tokenPrice,
        output_per_million: tokenPrice,
      })
      .refine((set) => (set.input_per_million === null) === (set.output_per_million === null), {
        path: ['output_per_million'],
        message: 'must be null if and only if input_per_million is null',
      }),
    result: done,
  }),
  'billing.video.pricing.get': method({
    auth: 'jwt',
    summary: 'The video prices, by model.',
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
    summary: 'Set the video price of a model.',
    params: z.object({
      model: modelId,
      mode: videoMode.default('per_second_resolution'),
      base_price: price.default(0),
      price_per_second: price.default(0),
      price_per_frame: price.default(0),
      resolution_coeff: boundedRecord(
        z.string().regex(/^(\*|\d{1,5})$/, 'must be a short side in pixels, or *'),
        price,
        RESOLUTIONS_MAX,
      )
        .default({})
        .describe('multipliers by short side in pixels, `*` for any other'),
      currency: z.literal('USD', 'must be USD: other currencies have no rates').default('USD'),
      enabled: z.boolean().default(true),
    }),
    result: done,
  }),
};
