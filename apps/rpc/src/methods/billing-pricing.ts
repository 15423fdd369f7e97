import {
  createPriceIndex,
  priceOf,
  PRICES_CHANNEL,
  pricesWith,
  readCatalogue,
  recordOf,
} from '@model-gateway/billing';
import { ENTRY_NAMES } from '@model-gateway/config-file';
import { describeError } from '@model-gateway/kernel';
import { explainPrice } from '../pricing/explain-price.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createBillingPricingMethods({
  prices,
  channels,
  runtime,
  log,
}: Services): HandlersOf<'billing.pricing'> {
  const { fileEntries } = runtime.router;

  /** Processes that miss the message reload the prices a little later. */
  async function publishChange(pattern: string): Promise<void> {
    try {
      await channels.publish(PRICES_CHANNEL, pattern);
    } catch (error) {
      log.warn({ pattern, reason: describeError(error) }, 'publishing a price change failed');
    }
  }

  return {
    'billing.pricing.get': async () => ({
      pricing: pricesWith(await prices.list()).map((price) => ({
        ...recordOf(price),
        pattern: price.pattern,
      })),
    }),
    'billing.pricing.set': {
      audit: {
        target: ({ params }) =>
          `price:${params.pattern}${params.backend === undefined ? '' : `@${params.backend}`}`,
        state: async ({ params: { pattern, backend = '' } }, stores) =>
          (await stores.prices.list()).find(
            (price) =>
              price.source !== 'catalogue' &&
              price.pattern === pattern &&
              (price.backend ?? '') === backend,
          ),
      },
      handle: async (params) => {
        await fileEntries.assertChangeable('prices', ENTRY_NAMES.prices(params));
        const price = priceOf(params);
        if (price === undefined) await prices.remove(params.pattern, params.backend ?? null);
        else await prices.set(price);
        await publishChange(params.pattern);
        return { ok: true };
      },
    },
    // From the store, so that a price that was just set is explained.
    'billing.pricing.explain': async (params) =>
      explainPrice(params, createPriceIndex(await prices.list()), runtime.router),
    'billing.pricing.import': {
      audit: {
        target: () => 'prices:catalogue',
        async state(_call, stores) {
          const stored = await stores.prices.list();
          return { prices: stored.filter(({ source }) => source === 'catalogue').length };
        },
      },
      handle: async ({ catalogue, mode }) => {
        const read = readCatalogue(catalogue);
        const removed = await prices.importAll(read.prices, mode);
        await publishChange('catalogue');
        return { imported: read.prices.length, skipped: read.skipped, removed };
      },
    },
  };
}
