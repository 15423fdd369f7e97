import { z } from 'zod';
import { boundedRecord } from '../../bounded-record.ts';
import { entrySource } from '../../entry-source.ts';
import { anyObject } from '../../open-object.ts';
import { priceRecord } from '../../price.ts';
import { method } from '../method.ts';
import { done, email, label, modelId, text } from './records.ts';

const RESOLUTIONS_MAX = 100;
const TIER_NAME_CHARS_MAX = 64;
const PATTERN_CHARS_MAX = 128;
const BACKEND_CHARS_MAX = 255;
const CATALOGUE_ENTRIES_MAX = 20_000;
const RPM_MAX = 1_000_000;

const PRICE_MAX = 1_000_000;

const price = z.number().min(0).max(PRICE_MAX);
const tokenPrice = price
  .nullable()
  .describe('USD per million tokens; null for both prices removes the override');
const furtherPrice = price.nullable().optional();
/** If absent, these tokens cost as much as other tokens of the prompt. */
const promptPrice = furtherPrice.describe(
  'USD per million tokens; when omitted they cost as much as other tokens of the prompt',
);
/** Absent: as tokens of text. */
const audioPrice = furtherPrice.describe(
  'USD per million tokens; when omitted they cost as much as tokens of text',
);
const backendName = text(BACKEND_CHARS_MAX)
  .min(1)
  .describe('The only backend that the price is for; every backend when omitted.');
const pattern = text(PATTERN_CHARS_MAX).min(1).toLowerCase();
const unlimitedIfNull = 'null for unlimited; unchanged when omitted';
const videoMode = z.enum(['per_call', 'per_second_resolution', 'per_frame']);

const tier = z.object({
  name: z.string(),
  monthly_usd_quota: z.number().nullable(),
  monthly_token_quota: z.int().nullable(),
  rpm: z.int().nullable(),
  source: entrySource,
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
    auth: 'admin-or-admin-token',
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
    summary: 'The prices. A model whose id contains none of the patterns has no price.',
    isExtension: true,
    params: z.object({}),
    result: z.object({ pricing: z.array(priceRecord.required({ pattern: true })) }),
  }),
  'billing.pricing.set': method({
    auth: 'admin-or-admin-token',
    summary: 'Set the price of the models whose ids contain the pattern, on one backend or on all.',
    isExtension: true,
    params: z
      .object({
        pattern,
        backend: backendName.optional(),
        input_per_million: tokenPrice,
        output_per_million: tokenPrice,
        cached_input_per_million: promptPrice,
        cache_write_per_million: promptPrice,
        audio_input_per_million: audioPrice,
        audio_output_per_million: audioPrice,
        cached_audio_input_per_million: furtherPrice.describe(
          'USD per million tokens; when omitted they cost as much as other cached tokens, or as other audio',
        ),
        image_output_per_million: furtherPrice.describe(
          'USD per million tokens of generated images; when omitted they cost as much as tokens of text',
        ),
        per_image: furtherPrice.describe(
          'USD for a generated image that is not billed by its tokens',
        ),
        per_minute_audio: furtherPrice.describe('USD for a minute of spoken or transcribed audio'),
        per_request: furtherPrice.describe('USD for each request'),
      })
      .refine((set) => (set.input_per_million === null) === (set.output_per_million === null), {
        path: ['output_per_million'],
        message: 'must be null if and only if input_per_million is null',
      })
      // No model id contains a star, so that the price would apply to no model. A price that was set before can be removed.
      .refine((set) => set.input_per_million === null || !set.pattern.includes('*'), {
        path: ['pattern'],
        message: "must be a part of a model id, without '*'",
      })
      .refine((set) => set.input_per_million !== null || !hasFurtherPrices(set), {
        path: ['input_per_million'],
        message: 'must be a price where there are others',
      }),
    result: done,
  }),
  'billing.pricing.explain': method({
    auth: 'jwt',
    summary:
      'The price of a model and where it comes from, on one backend or on those that serve it.',
    isExtension: true,
    params: z.object({ model: modelId, backend: backendName.optional() }),
    result: z.object({
      model: z.string(),
      /** The highest of the backends below; that of the id where no backend serves the model. Null without a price. */
      price: priceRecord.nullable(),
      backends: z.array(
        z.object({
          backend: z.string(),
          /** As the backend lists it. */
          model: z.string(),
          price: priceRecord.nullable(),
        }),
      ),
    }),
  }),
  'billing.pricing.import': method({
    auth: 'admin-or-admin-token',
    summary: "Import the prices of a catalogue in the form of LiteLLM's JSON.",
    isExtension: true,
    params: z.object({
      catalogue: boundedRecord(z.string(), anyObject(), CATALOGUE_ENTRIES_MAX).describe(
        'The content of `model_prices_and_context_window.json`.',
      ),
      mode: z
        .enum(['merge', 'replace'])
        .default('merge')
        .describe('`replace` also removes the prices of earlier imports that it does not have.'),
    }),
    result: z.object({
      imported: z.int(),
      /** Entries without a price that requests can be counted in. */
      skipped: z.int(),
      /** Prices of earlier imports that are gone. */
      removed: z.int(),
    }),
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

interface FurtherPrices {
  readonly cached_input_per_million?: number | null | undefined;
  readonly cache_write_per_million?: number | null | undefined;
  readonly audio_input_per_million?: number | null | undefined;
  readonly audio_output_per_million?: number | null | undefined;
  readonly cached_audio_input_per_million?: number | null | undefined;
  readonly image_output_per_million?: number | null | undefined;
  readonly per_image?: number | null | undefined;
  readonly per_minute_audio?: number | null | undefined;
  readonly per_request?: number | null | undefined;
}

/** Whether something besides tokens, or some kind of them, has a price. */
const hasFurtherPrices = (set: FurtherPrices): boolean =>
  [
    set.cached_input_per_million,
    set.cache_write_per_million,
    set.audio_input_per_million,
    set.audio_output_per_million,
    set.cached_audio_input_per_million,
    set.image_output_per_million,
    set.per_image,
    set.per_minute_audio,
    set.per_request,
  ].some((further) => typeof further === 'number');
