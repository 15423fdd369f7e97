import type { TokenUsage } from '@model-gateway/contracts';
import { BUILT_IN_PRICES } from './built-in-prices.ts';

/** USD per million tokens, for the models whose lower-cased ids contain the pattern. */
export interface TokenPrice {
  readonly pattern: string;
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

/** A price and its source. */
export interface ListedPrice extends TokenPrice {
  readonly source: 'built-in' | 'override';
}

const TOKENS_PER_PRICE = 1_000_000;

const builtIn = BUILT_IN_PRICES.map(
  ([pattern, inputPerMillion, outputPerMillion]): ListedPrice => ({
    pattern,
    inputPerMillion,
    outputPerMillion,
    source: 'built-in',
  }),
);

/** The built-in prices with overrides: one with the same pattern replaces the built-in one. */
export function pricesWith(overrides: readonly TokenPrice[]): readonly ListedPrice[] {
  const prices = new Map(builtIn.map((price) => [price.pattern, price]));
  for (const override of overrides) {
    prices.set(override.pattern, { ...override, source: 'override' });
  }
  return [...prices.values()];
}

/** The price of a model: the longest pattern contained in its lower-cased id. Undefined means unpriced, never free. */
export function priceOf(
  model: string,
  prices: readonly TokenPrice[] = builtIn,
): TokenPrice | undefined {
  const id = model.toLowerCase();
  let best: TokenPrice | undefined;
  for (const price of prices) {
    if (price.pattern.length > (best?.pattern.length ?? 0) && id.includes(price.pattern)) {
      best = price;
    }
  }
  return best;
}

/** The cost of a request in USD; null when the model has no price. */
export function costOf(
  model: string,
  usage: Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'>,
  prices: readonly TokenPrice[] = builtIn,
): number | null {
  return costAt(priceOf(model, prices), usage);
}

/** The cost of a request at a price; null without a price. */
export function costAt(
  price: TokenPrice | undefined,
  usage: Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'>,
): number | null {
  if (price === undefined) return null;
  return (
    (usage.prompt_tokens / TOKENS_PER_PRICE) * price.inputPerMillion +
    (usage.completion_tokens / TOKENS_PER_PRICE) * price.outputPerMillion
  );
}
