import { createFormat } from '../format/format.ts';
import { en } from '../texts/en.ts';
import { createTranslate } from '../texts/texts.ts';
import { priceText } from './price-text.ts';

const t = createTranslate(en, 'en');
const format = createFormat('en');
const tokens = { input_per_million: 3, output_per_million: 15 };

test.each([
  {
    price: { ...tokens, source: 'built-in', pattern: 'gpt' },
    text: '$3.00 in and $15.00 out per million (Built in: gpt)',
  },
  {
    price: {
      ...tokens,
      source: 'catalogue',
      pattern: 'gpt-x',
      cached_input_per_million: 0.3,
      cache_write_per_million: 3.75,
      per_request: 0.01,
    },
    text: '$3.00 in and $15.00 out per million, Cached in $0.30 per million, Cache writes $3.75 per million, $0.01 per request (Imported: gpt-x)',
  },
  {
    price: { input_per_million: 1.375, output_per_million: 0, source: 'local' },
    text: '$1.375 in and $0.00 out per million (Own machine)',
  },
  {
    price: { ...tokens, source: 'file', pattern: 'x', per_image: 0.04, per_minute_audio: 0.006 },
    text: '$3.00 in and $15.00 out per million, $0.04 per image, $0.006 per minute of audio (Configuration file: x)',
  },
] as const)('a price of the source $price.source', ({ price, text }) => {
  expect(priceText(price, t, format)).toBe(text);
});
