import type { PriceRecord, PriceSource, TokenUsage } from '@model-gateway/contracts';
import { BUILT_IN_PRICES } from './built-in-prices.ts';

/** What a request costs, in USD. Null for what is not priced apart: such tokens cost as much as others of the prompt. */
export interface Rates {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  readonly cachedInputPerMillion: number | null;
  readonly cacheWritePerMillion: number | null;
  readonly perImage: number | null;
  readonly perMinuteAudio: number | null;
  readonly perRequest: number | null;
}

/** The price of some models. */
export interface Price extends Rates {
  /** What the lower-cased id of a model contains; of the source `catalogue` the id itself. */
  readonly pattern: string;
  /** The name of the only backend that it is for; null for every backend. */
  readonly backend: string | null;
}

/** A price that an operator set, by a call or in the configuration file, or imported. */
export interface StoredPrice extends Price {
  readonly source: 'override' | 'file' | 'catalogue';
}

/** A price and its source. */
export interface ListedPrice extends Price {
  readonly source: StoredPrice['source'] | 'built-in';
}

/** The price of one model. */
export interface FoundPrice extends Rates {
  readonly source: PriceSource;
  /** As it is kept with each request. */
  readonly record: PriceRecord;
}

/** What is billed of a request. */
export interface BilledUsage extends Pick<TokenUsage, 'prompt_tokens' | 'completion_tokens'> {
  /** The parts of the prompt that the upstream read from its cache and wrote to it. */
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  /** Generated images. */
  readonly images?: number | undefined;
  readonly audioSeconds?: number | undefined;
}

const TOKENS_PER_PRICE = 1_000_000;
const SECONDS_PER_MINUTE = 60;

/** Rates of tokens alone. */
export const tokenRates = (inputPerMillion: number, outputPerMillion: number): Rates => ({
  inputPerMillion,
  outputPerMillion,
  cachedInputPerMillion: null,
  cacheWritePerMillion: null,
  perImage: null,
  perMinuteAudio: null,
  perRequest: null,
});

const builtIn = BUILT_IN_PRICES.map(([pattern, input, output]): ListedPrice => ({
  pattern,
  backend: null,
  ...tokenRates(input, output),
  source: 'built-in',
}));

/** The built-in prices with the stored ones: one with the same pattern for every backend replaces the built-in one. */
export function pricesWith(stored: readonly StoredPrice[]): readonly ListedPrice[] {
  const prices = new Map(builtIn.map((price) => [price.pattern, price]));
  const others: ListedPrice[] = [];
  for (const price of stored) {
    if (price.backend === null && price.source !== 'catalogue') prices.set(price.pattern, price);
    else others.push(price);
  }
  return [...prices.values(), ...others];
}

/** The cost of a request at its price, in USD. */
export function costAt(price: Rates, usage: BilledUsage): number {
  const { prompt_tokens: prompt, completion_tokens: completion } = usage;
  const { cachedInputPerMillion: cachedPrice, cacheWritePerMillion: writePrice } = price;
  // What an upstream reports is not more than the prompt.
  const cached = Math.min(usage.cachedTokens ?? 0, prompt);
  const written = Math.min(usage.cacheWriteTokens ?? 0, prompt - cached);
  const apart = (cachedPrice === null ? 0 : cached) + (writePrice === null ? 0 : written);
  return (
    ((prompt - apart) / TOKENS_PER_PRICE) * price.inputPerMillion +
    (completion / TOKENS_PER_PRICE) * price.outputPerMillion +
    (cached / TOKENS_PER_PRICE) * (cachedPrice ?? 0) +
    (written / TOKENS_PER_PRICE) * (writePrice ?? 0) +
    (usage.images ?? 0) * (price.perImage ?? 0) +
    ((usage.audioSeconds ?? 0) / SECONDS_PER_MINUTE) * (price.perMinuteAudio ?? 0) +
    (price.perRequest ?? 0)
  );
}

/** The most that a request can cost at a price: an upstream may write all of the prompt to its cache. */
export function highestCostAt(price: Rates, usage: BilledUsage): number {
  const { inputPerMillion, cacheWritePerMillion, cachedInputPerMillion } = price;
  const highest = Math.max(inputPerMillion, cacheWritePerMillion ?? 0, cachedInputPerMillion ?? 0);
  return costAt(
    highest === inputPerMillion ? price : { ...price, inputPerMillion: highest },
    usage,
  );
}
