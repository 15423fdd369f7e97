import {
  createPriceIndex,
  priceOf,
  PRICES_CHANNEL,
  pricesWith,
  readCatalogue,
  recordOf,
} from '@model-gateway/billing';
import { ENTRY_NAMES, type FileMark } from '@model-gateway/config-file';
import type { PriceRecord, PriceSource } from '@model-gateway/contracts';
import { describeError } from '@model-gateway/kernel';
import { explainPrice } from '../pricing/explain-price.ts';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

interface PriceKey {
  readonly source: PriceSource;
  readonly pattern: string | null;
  readonly backend: string | null;
}

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

  /** A price of the file is stored like one that a call set. */
  function markOf({ source, pattern, backend }: PriceKey): FileMark {
    if (source !== 'override' || pattern === null) return {};
    const name = ENTRY_NAMES.prices({ pattern, backend: backend ?? undefined });
    return fileEntries.markOf('prices', name);
  }

  const marked = (record: PriceRecord): PriceRecord => {
    const { source, pattern = null, backend = null } = record;
    return { ...record, ...markOf({ source, pattern, backend }) };
  };

  return {
    'billing.pricing.get': async () => ({
      pricing: pricesWith(await prices.list()).map((price) => ({
        ...recordOf(price),
        ...markOf(price),
        pattern: price.pattern,
      })),
    }),
    'billing.pricing.set': async (params) => {
      await fileEntries.assertChangeable('prices', ENTRY_NAMES.prices(params));
      const price = priceOf(params);
      if (price === undefined) await prices.remove(params.pattern, params.backend ?? null);
      else await prices.set(price);
      await publishChange(params.pattern);
      return { ok: true };
    },
    // From the store, so that a price that was just set is explained.
    'billing.pricing.explain': async (params) =>
      explainPrice(params, createPriceIndex(await prices.list()), runtime.router, marked),
    'billing.pricing.import': async ({ catalogue, mode }) => {
      const read = readCatalogue(catalogue);
      const removed = await prices.importAll(read.prices, mode);
      await publishChange('catalogue');
      return { imported: read.prices.length, skipped: read.skipped, removed };
    },
  };
}
