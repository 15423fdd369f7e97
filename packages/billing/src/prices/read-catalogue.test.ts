import { readCatalogue } from './read-catalogue.ts';
import { tokenRates } from './prices.ts';

const read = (entry: Readonly<Record<string, unknown>>) => readCatalogue({ 'Some/Model': entry });
const rates = tokenRates(0, 0);

test.each([
  {
    what: 'tokens',
    entry: { input_cost_per_token: 1.5e-7, output_cost_per_token: 6e-7, mode: 'chat' },
    price: { inputPerMillion: 0.15, outputPerMillion: 0.6 },
  },
  {
    what: 'a prompt cache',
    entry: {
      input_cost_per_token: 3e-6,
      cache_creation_input_token_cost: 3.75e-6,
      cache_read_input_token_cost: 3e-7,
    },
    price: { inputPerMillion: 3, cacheWritePerMillion: 3.75, cachedInputPerMillion: 0.3 },
  },
  {
    what: 'the earlier name of a prompt cache',
    entry: { input_cost_per_token: 1.4e-7, input_cost_per_token_cache_hit: 1.4e-8 },
    price: { inputPerMillion: 0.14, cachedInputPerMillion: 0.014 },
  },
  {
    what: 'images',
    entry: { output_cost_per_image: 0.04, mode: 'image_generation' },
    price: { perImage: 0.04 },
  },
  {
    what: 'images by the older name',
    entry: { input_cost_per_image: 0.02, mode: 'image_generation' },
    price: { perImage: 0.02 },
  },
  {
    what: 'audio by the second',
    entry: { input_cost_per_second: 0.0001, output_cost_per_second: 0.0001 },
    price: { perMinuteAudio: 0.006 },
  },
  {
    what: 'images by their tokens',
    entry: {
      input_cost_per_token: 5e-6,
      input_cost_per_image_token: 1e-5,
      output_cost_per_image_token: 4e-5,
      output_cost_per_image: 0.2,
      mode: 'image_generation',
    },
    price: { inputPerMillion: 5, outputPerMillion: 40, imageOutputPerMillion: 40 },
  },
  {
    what: 'images by their number or their tokens, beside text',
    entry: {
      output_cost_per_token: 2.5e-6,
      output_cost_per_image_token: 3e-5,
      output_cost_per_image: 0.039,
      mode: 'image_generation',
    },
    price: { outputPerMillion: 2.5, imageOutputPerMillion: 30, perImage: 0.039 },
  },
  {
    what: 'tokens of audio',
    entry: {
      input_cost_per_token: 4e-6,
      output_cost_per_token: 1.6e-5,
      input_cost_per_audio_token: 3.2e-5,
      output_cost_per_audio_token: 6.4e-5,
      cache_read_input_token_cost: 4e-7,
      cache_read_input_audio_token_cost: 5e-7,
      mode: 'chat',
    },
    price: {
      inputPerMillion: 4,
      outputPerMillion: 16,
      audioInputPerMillion: 32,
      audioOutputPerMillion: 64,
      cachedInputPerMillion: 0.4,
      cachedAudioInputPerMillion: 0.5,
    },
  },
  {
    what: 'audio by the second of what is generated',
    entry: { input_cost_per_second: 0, output_cost_per_second: 0.0002, mode: 'audio_speech' },
    price: { perMinuteAudio: 0.012 },
  },
  {
    what: 'images with a free output',
    entry: { input_cost_per_image: 0.02, output_cost_per_image: 0, mode: 'image_generation' },
    price: { perImage: 0.02 },
  },
  { what: 'searches', entry: { input_cost_per_query: 0.002 }, price: { perRequest: 0.002 } },
  { what: 'free models', entry: { input_cost_per_token: 0 }, price: {} },
])('prices of $what', ({ entry, price }) => {
  expect(read(entry)).toEqual({
    prices: [{ pattern: 'some/model', backend: null, ...rates, ...price }],
    skipped: 0,
  });
});

test.each([
  { what: 'other units', entry: { input_cost_per_pixel: 1e-8 } },
  {
    what: 'other units beside tokens without a price',
    entry: { input_cost_per_pixel: 1e-8, output_cost_per_token: 0 },
  },
  {
    what: 'seconds of a reserved machine',
    entry: { input_cost_per_second: 0.01, output_cost_per_second: 0.01, mode: 'chat' },
  },
  {
    what: 'entries with one unusable price',
    entry: { input_cost_per_token: -1e-6, output_cost_per_token: 1e-6 },
  },
  { what: 'texts', entry: { input_cost_per_token: '0.1' } },
  { what: 'negative numbers', entry: { input_cost_per_token: -1e-6 } },
  { what: 'absurd numbers', entry: { input_cost_per_token: 1e9, output_cost_per_token: NaN } },
])('$what are skipped', ({ entry }) => {
  expect(read(entry)).toEqual({ prices: [], skipped: 1 });
});

test('the description of the format is no model, and ids that cannot be stored are skipped', () => {
  const entry = { input_cost_per_token: 1e-6 };
  const catalogue = { sample_spec: entry, ['x'.repeat(129)]: entry, 'a\u0000b': entry, M: entry };
  expect(readCatalogue(catalogue)).toMatchObject({ prices: [{ pattern: 'm' }], skipped: 2 });
});
