import type { Price } from './prices.ts';

/** The prices of a catalogue, and how many entries have none that can be used. */
interface ReadCatalogue {
  readonly prices: readonly Price[];
  readonly skipped: number;
}

type Entry = Readonly<Record<string, unknown>>;

/** The entry that only documents the fields of the others. */
const SAMPLE = 'sample_spec';
/** Where a price by the second is that of a reserved machine, not of audio. */
const TEXT_MODES: ReadonlySet<unknown> = new Set([
  'chat',
  'completion',
  'responses',
  'embedding',
  'rerank',
]);
const ID_CHARS_MAX = 128;
const PRICE_MAX = 1_000_000;
const MILLION_EXPONENT = 6;
const SECONDS_PER_MINUTE = 60;
const PRECISION_DIGITS = 12;

/** Reads the prices in the form of LiteLLM's `model_prices_and_context_window.json`, by lower-cased model id. */
export function readCatalogue(catalogue: Readonly<Record<string, Entry>>): ReadCatalogue {
  const prices = new Map<string, Price>();
  let skipped = 0;
  for (const [id, entry] of Object.entries(catalogue)) {
    if (id === SAMPLE) continue;
    const price = isUsableId(id) ? priceOf(id.toLowerCase(), entry) : undefined;
    if (price === undefined) skipped += 1;
    else prices.set(price.pattern, price);
  }
  return { prices: [...prices.values()], skipped };
}

const isUsableId = (id: string): boolean =>
  id !== '' && id.length <= ID_CHARS_MAX && !id.includes('\u0000');

/** Undefined for an entry that is priced in units which requests are not counted in, or not at all. */
function priceOf(pattern: string, entry: Entry): Price | undefined {
  const input = perMillion(entry['input_cost_per_token']);
  const images = imagePrices(entry);
  const output = perMillion(entry['output_cost_per_token']) ?? images.perMillion;
  // Otherwise these tokens would be free.
  if (isUnusable(entry['input_cost_per_token'], input)) return undefined;
  if (isUnusable(entry['output_cost_per_token'], output)) return undefined;
  const { perImage } = images;
  const perMinuteAudio = TEXT_MODES.has(entry['mode'])
    ? null
    : highest(
        perMinute(entry['input_cost_per_second']),
        perMinute(entry['output_cost_per_second']),
      );
  const perRequest = highest(
    usable(entry['input_cost_per_request']),
    usable(entry['input_cost_per_query']),
  );
  const rates = [input, output, perImage, perMinuteAudio, perRequest];
  if (rates.every((rate) => rate === null)) return undefined;
  const cached =
    perMillion(entry['cache_read_input_token_cost']) ??
    perMillion(entry['input_cost_per_token_cache_hit']);
  const written = perMillion(entry['cache_creation_input_token_cost']);
  const media = {
    audioInputPerMillion: perMillion(entry['input_cost_per_audio_token']),
    audioOutputPerMillion: perMillion(entry['output_cost_per_audio_token']),
    cachedAudioInputPerMillion: perMillion(entry['cache_read_input_audio_token_cost']),
    imageOutputPerMillion: perMillion(entry['output_cost_per_image_token']),
  };
  const isFree = [...rates, cached, written, ...Object.values(media)].every(
    (rate) => rate === null || rate === 0,
  );
  if (isFree && hasCost(entry)) return undefined;
  return {
    pattern,
    backend: null,
    inputPerMillion: input ?? 0,
    outputPerMillion: output ?? 0,
    cachedInputPerMillion: cached,
    cacheWritePerMillion: written,
    ...media,
    perImage,
    perMinuteAudio,
    perRequest,
  };
}

/** What a model that generates nothing but images takes for them: by their tokens, or else by their number. */
function imagePrices(entry: Entry) {
  const isImages = entry['mode'] === 'image_generation';
  const isOfText = typeof entry['output_cost_per_token'] === 'number';
  const ofTokens = isImages && !isOfText ? perMillion(entry['output_cost_per_image_token']) : null;
  const perImage = highest(
    usable(entry['output_cost_per_image']),
    isImages ? usable(entry['input_cost_per_image']) : null,
  );
  return { perMillion: ofTokens, perImage: ofTokens === null ? perImage : null };
}

const isUnusable = (given: unknown, read: number | null): boolean =>
  given !== undefined && given !== null && read === null;

const highest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);

/** Whether anything of it has a price, in whatever unit. */
const hasCost = (entry: Entry): boolean =>
  Object.entries(entry).some(
    ([name, value]) => name.includes('cost') && typeof value === 'number' && value > 0,
  );

/** Shifts the decimal point, so that no digits are added by rounding. */
function perMillion(perToken: unknown): number | null {
  if (typeof perToken !== 'number' || !Number.isFinite(perToken)) return null;
  const [digits = '0', exponent = '0'] = perToken.toExponential().split('e');
  return usable(Number(`${digits}e${Number(exponent) + MILLION_EXPONENT}`));
}

const perMinute = (perSecond: unknown): number | null =>
  typeof perSecond === 'number'
    ? usable(Number((perSecond * SECONDS_PER_MINUTE).toPrecision(PRECISION_DIGITS)))
    : null;

const usable = (price: unknown): number | null =>
  typeof price === 'number' && price >= 0 && price <= PRICE_MAX ? price : null;
