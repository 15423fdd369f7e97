import type { TokenUsage } from '@model-gateway/contracts';
import { BUILT_IN_PRICES } from './built-in-prices.ts';

/** USD per million tokens. */
export interface TokenPrice {
  readonly pattern: string;
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

const TOKENS_PER_PRICE = 1_000_000;

const builtIn: readonly TokenPrice[] = BUILT_IN_PRICES.map(
  ([pattern, inputPerMillion, outputPerMillion]) => ({
    pattern,
    inputPerMillion,
    outputPerMillion,
  }),
);

/** The price of a model: the longest pattern contained in its lower-cased id. Undefined means unpriced, never free. */
export function priceOf(
  model: string,
  prices: readonly TokenPrice[] = builtIn,
): TokenPrice | undefined {
  const id = model.toLowerCase();
  let best: TokenPrice | undefined;
  for (const price of prices) {
    if (id.includes(price.pattern) && price.pattern.length > (best?.pattern.length ?? 0))
      best = price;
  }
  return best;
}

/** What a request cost in USD; null when the model has no price. */
export function costOf(
  model: string,
  usage: Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'>,
): number | null {
  const price = priceOf(model);
  if (price === undefined) return null;
  return (
    (usage.prompt_tokens / TOKENS_PER_PRICE) * price.inputPerMillion +
    (usage.completion_tokens / TOKENS_PER_PRICE) * price.outputPerMillion
  );
}
