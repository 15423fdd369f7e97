import type { PriceRecord } from '@model-gateway/contracts';
import type { Format } from '../format/format.ts';
import type { Translate } from '../texts/texts.ts';

const FURTHER = [
  'cached_input_per_million',
  'cache_write_per_million',
  'audio_input_per_million',
  'audio_output_per_million',
  'cached_audio_input_per_million',
  'image_output_per_million',
  'per_image',
  'per_minute_audio',
  'per_request',
] as const;

/** What a price has besides the tokens in and out, in words. */
export const furtherPrices = (
  price: PriceRecord,
  t: Translate,
  format: Pick<Format, 'price'>,
): readonly string[] =>
  FURTHER.flatMap((name) => {
    const usd = price[name];
    return usd === undefined ? [] : t(`prices.${name}`, { usd: format.price(usd) });
  });

/** A whole price, and where it comes from. */
export function priceText(price: PriceRecord, t: Translate, format: Pick<Format, 'price'>): string {
  const tokens = t('prices.tokens.text', {
    input: format.price(price.input_per_million),
    output: format.price(price.output_per_million),
  });
  const source = t(`prices.source.${price.source}`);
  const origin = price.pattern === undefined ? source : `${source}: ${price.pattern}`;
  return `${[tokens, ...furtherPrices(price, t, format)].join(', ')} (${origin})`;
}
