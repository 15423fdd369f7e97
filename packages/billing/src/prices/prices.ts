import type { MediaTokens, PriceRecord, PriceSource, TokenUsage } from '@model-gateway/contracts';
import { BUILT_IN_PRICES } from './built-in-prices.ts';

/** What a request costs, in USD. Null for what is not priced apart: such tokens cost as much as the others. */
export interface Rates {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  readonly cachedInputPerMillion: number | null;
  readonly cacheWritePerMillion: number | null;
  readonly audioInputPerMillion: number | null;
  readonly audioOutputPerMillion: number | null;
  readonly cachedAudioInputPerMillion: number | null;
  readonly imageOutputPerMillion: number | null;
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
  /** Which of the tokens are no text. */
  readonly mediaTokens?: MediaTokens | undefined;
  /** Generated images. */
  readonly images?: number | undefined;
  readonly audioSeconds?: number | undefined;
}

const TOKENS_PER_PRICE = 1_000_000;
const SECONDS_PER_MINUTE = 60;
/** Of one request. */
const COST_USD_MAX = 1e9;

/** Rates of tokens alone. */
export const tokenRates = (inputPerMillion: number, outputPerMillion: number): Rates => ({
  inputPerMillion,
  outputPerMillion,
  cachedInputPerMillion: null,
  cacheWritePerMillion: null,
  audioInputPerMillion: null,
  audioOutputPerMillion: null,
  cachedAudioInputPerMillion: null,
  imageOutputPerMillion: null,
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
  const { cached, written } = cacheTokens(usage);
  const apart = (cachedPrice === null ? 0 : cached) + (writePrice === null ? 0 : written);
  const cost =
    ((prompt - apart) / TOKENS_PER_PRICE) * price.inputPerMillion +
    (completion / TOKENS_PER_PRICE) * price.outputPerMillion +
    (cached / TOKENS_PER_PRICE) * (cachedPrice ?? 0) +
    (written / TOKENS_PER_PRICE) * (writePrice ?? 0) +
    ((usage.audioSeconds ?? 0) / SECONDS_PER_MINUTE) * (price.perMinuteAudio ?? 0) +
    (price.perRequest ?? 0);
  const images = (usage.images ?? 0) * (price.perImage ?? 0);
  const media = billedMedia(usage);
  if (media === undefined) return saturated(cost + images);
  // Images that are billed by their tokens are not billed by their number as well.
  const isImageByTokens = price.imageOutputPerMillion !== null && media.image_output > 0;
  // Rounding may leave a little less than nothing.
  const difference = mediaDifference(price, media);
  return saturated(Math.max(0, cost + difference) + (isImageByTokens ? 0 : images));
}

/** A cost that sums can have: what is no number at all is the most that there is. */
const saturated = (usd: number): number =>
  Number.isNaN(usd) ? COST_USD_MAX : Math.min(Math.max(usd, 0), COST_USD_MAX);

/** What an upstream reports of its cache, which is not more than the prompt. */
function cacheTokens({
  prompt_tokens: prompt,
  cachedTokens = 0,
  cacheWriteTokens = 0,
}: BilledUsage) {
  const cached = Math.min(cachedTokens, prompt);
  return { cached, written: Math.min(cacheWriteTokens, prompt - cached) };
}

/** What an upstream reports of audio and images, which is not more than the tokens that it is a part of. */
export function billedMedia(usage: BilledUsage): MediaTokens | undefined {
  const { prompt_tokens: prompt, completion_tokens: completion, mediaTokens } = usage;
  if (mediaTokens === undefined) return undefined;
  const all = cacheTokens(usage);
  const cached = Math.min(mediaTokens.cached_audio_input, mediaTokens.audio_input, all.cached);
  const others = Math.min(mediaTokens.audio_input - cached, prompt - all.cached - all.written);
  const audio = Math.min(mediaTokens.audio_output, completion);
  return {
    audio_input: cached + others,
    cached_audio_input: cached,
    audio_output: audio,
    image_output: Math.min(mediaTokens.image_output, completion - audio),
  };
}

/** What tokens of audio and images cost beyond as many of text; it may be less. */
function mediaDifference(price: Rates, media: MediaTokens): number {
  const { inputPerMillion: input, outputPerMillion: output, cachedInputPerMillion } = price;
  const audioInput = price.audioInputPerMillion ?? input;
  const cachedAudio = price.cachedAudioInputPerMillion ?? cachedInputPerMillion ?? audioInput;
  const cached = media.cached_audio_input;
  const total =
    (media.audio_input - cached) * (audioInput - input) +
    cached * (cachedAudio - (cachedInputPerMillion ?? input)) +
    media.audio_output * ((price.audioOutputPerMillion ?? output) - output) +
    media.image_output * ((price.imageOutputPerMillion ?? output) - output);
  return total / TOKENS_PER_PRICE;
}

/** The most that a request can cost at a price: an upstream may write all of the prompt to its cache, or nothing may be text. */
export function highestCostAt(price: Rates, usage: BilledUsage): number {
  const { inputPerMillion: input, outputPerMillion: output } = price;
  const highestInput = Math.max(
    input,
    price.cacheWritePerMillion ?? 0,
    price.cachedInputPerMillion ?? 0,
    price.audioInputPerMillion ?? 0,
    price.cachedAudioInputPerMillion ?? 0,
  );
  const highestOutput = Math.max(
    output,
    price.audioOutputPerMillion ?? 0,
    price.imageOutputPerMillion ?? 0,
  );
  const highest =
    highestInput === input && highestOutput === output
      ? price
      : { ...price, inputPerMillion: highestInput, outputPerMillion: highestOutput };
  return costAt(highest, usage);
}
