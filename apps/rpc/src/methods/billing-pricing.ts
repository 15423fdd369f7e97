import { PRICES_CHANNEL, pricesWith } from '@model-gateway/billing';
import { describeError } from '@model-gateway/kernel';
import type { HandlersOf } from '../protocol/handlers.ts';
import type { Services } from '../services.ts';

export function createBillingPricingMethods({
  prices,
  channels,
  log,
}: Services): HandlersOf<'billing.pricing'> {
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
      await publishChange(pattern);
      return { ok: true };
    },
  };
}
