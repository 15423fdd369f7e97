import { PRICES_CHANNEL, pricesWith, type PriceStore } from '@model-gateway/billing';
import { describeError, type Channels, type Log } from '@model-gateway/kernel';
import type { Handlers } from '../protocol/handlers.ts';

/** What the methods about token prices need. */
export interface PricingDependencies {
  readonly prices: PriceStore;
  readonly channels: Pick<Channels, 'publish'>;
  readonly log: Log;
}

export function createBillingPricingMethods({
  prices,
  channels,
  log,
}: PricingDependencies): Pick<Handlers, 'billing.pricing.get' | 'billing.pricing.set'> {
  /** Those who do not hear of it find out by themselves, a little later. */
  async function announce(pattern: string): Promise<void> {
    try {
      await channels.publish(PRICES_CHANNEL, pattern);
    } catch (error) {
      log.warn({ pattern, reason: describeError(error) }, 'a price was not announced');
    }
  }

  return {
    'billing.pricing.get': async () => ({
      pricing: pricesWith(await prices.list()).map((price) => ({
        pattern: price.pattern,
        input_per_million: price.inputPerMillion,
        output_per_million: price.outputPerMillion,
        source: price.source,
      })),
    }),
    'billing.pricing.set': async ({ pattern, input_per_million, output_per_million }) => {
      if (input_per_million === null || output_per_million === null) await prices.remove(pattern);
      else
        await prices.set({
          pattern,
          inputPerMillion: input_per_million,
          outputPerMillion: output_per_million,
        });
      await announce(pattern);
      return { ok: true };
    },
  };
}
