import * as fc from 'fast-check';
import { createPriceIndex } from './price-index.ts';
import { costAt, highestCostAt, tokenRates, type Rates } from './prices.ts';

const builtIn = createPriceIndex([]);
const costOf = (model: string, prompt_tokens: number, completion_tokens: number) => {
  const price = builtIn.find(model);
  return price && costAt(price, { prompt_tokens, completion_tokens });
};

test('a model without a price has no cost, not a cost of zero', () => {
  expect(costOf('demo-chat', 10, 10)).toBeUndefined();
});

test('cost is tokens times the price per million', () => {
  expect(costOf('gpt-4o', 1_000_000, 500_000)).toBe(2.5 + 5);
  expect(costOf('text-embedding-3-small', 1000, 0)).toBeCloseTo(0.00002, 12);
});

const MILLION = 1_000_000;
const all: Rates = {
  ...tokenRates(10, 20),
  cachedInputPerMillion: 1,
  cacheWritePerMillion: 12.5,
  audioInputPerMillion: 32,
  audioOutputPerMillion: 64,
  cachedAudioInputPerMillion: 2,
  imageOutputPerMillion: 30,
  perImage: 0.25,
  perMinuteAudio: 0.5,
  perRequest: 4,
};

test.each([
  { what: 'a request', usage: {}, cost: 4 },
  { what: 'cached tokens', usage: { prompt: MILLION, cachedTokens: MILLION }, cost: 1 + 4 },
  {
    what: 'tokens that are written to the cache',
    usage: { prompt: MILLION, cacheWriteTokens: MILLION },
    cost: 12.5 + 4,
  },
  {
    what: 'all kinds of tokens',
    usage: {
      prompt: 3 * MILLION,
      completion: MILLION,
      cachedTokens: MILLION,
      cacheWriteTokens: MILLION,
    },
    cost: 10 + 1 + 12.5 + 20 + 4,
  },
  { what: 'images', usage: { images: 3 }, cost: 0.75 + 4 },
  { what: 'audio', usage: { audioSeconds: 90 }, cost: 0.75 + 4 },
  {
    what: 'tokens of audio',
    usage: {
      prompt: 3 * MILLION,
      completion: 2 * MILLION,
      mediaTokens: {
        audio_input: MILLION,
        cached_audio_input: 0,
        audio_output: MILLION,
        image_output: 0,
      },
    },
    cost: 2 * 10 + 32 + 20 + 64 + 4,
  },
  {
    what: 'cached tokens of audio',
    usage: {
      prompt: 4 * MILLION,
      cachedTokens: 2 * MILLION,
      mediaTokens: {
        audio_input: 2 * MILLION,
        cached_audio_input: MILLION,
        audio_output: 0,
        image_output: 0,
      },
    },
    cost: 10 + 1 + 32 + 2 + 4,
  },
  {
    what: 'tokens of images, which are then not billed by their number,',
    usage: {
      completion: 2 * MILLION,
      images: 3,
      mediaTokens: {
        audio_input: 0,
        cached_audio_input: 0,
        audio_output: 0,
        image_output: MILLION,
      },
    },
    cost: 20 + 30 + 4,
  },
  {
    what: 'more tokens of audio than there are tokens',
    usage: {
      prompt: 2 * MILLION,
      completion: MILLION,
      cachedTokens: MILLION,
      mediaTokens: {
        audio_input: 9 * MILLION,
        cached_audio_input: 9 * MILLION,
        audio_output: 9 * MILLION,
        image_output: 0,
      },
    },
    cost: 32 + 2 + 64 + 4,
  },
  {
    what: 'more cached tokens than the prompt has',
    usage: { prompt: MILLION, cachedTokens: 5 * MILLION, cacheWriteTokens: MILLION },
    cost: 1 + 4,
  },
])('$what cost their price', ({ usage, cost }) => {
  const { prompt = 0, completion = 0, ...units } = usage;
  const tokens = { prompt_tokens: prompt, completion_tokens: completion };
  expect(costAt(all, { ...tokens, ...units })).toBe(cost);
});

test('tokens of the cache without a price of their own cost as much as others', () => {
  const usage = { prompt_tokens: MILLION, completion_tokens: 0 };
  const rates = tokenRates(10, 20);
  expect(costAt(rates, { ...usage, cachedTokens: 400_000, cacheWriteTokens: 100_000 })).toBe(10);
  const cached = { ...rates, cachedInputPerMillion: 0 };
  expect(costAt(cached, { ...usage, cachedTokens: 400_000, cacheWriteTokens: 100_000 })).toBe(6);
});

test('tokens of audio without a price of their own cost as much as those of text', () => {
  const usage = {
    prompt_tokens: 4 * MILLION,
    completion_tokens: 2 * MILLION,
    cachedTokens: 2 * MILLION,
    mediaTokens: {
      audio_input: 2 * MILLION,
      cached_audio_input: MILLION,
      audio_output: MILLION,
      image_output: 0,
    },
  };
  const costOfRates = (rates: Partial<Rates>) => costAt({ ...tokenRates(10, 20), ...rates }, usage);
  expect(costOfRates({})).toBe(40 + 40);
  expect(costOfRates({ cachedInputPerMillion: 1 })).toBe(20 + 2 + 40);
  expect(costOfRates({ audioInputPerMillion: 30 })).toBe(20 + 60 + 40);
  expect(costOfRates({ audioInputPerMillion: 30, cachedInputPerMillion: 1 })).toBe(
    10 + 30 + 2 + 40,
  );
  expect(costOfRates({ cachedAudioInputPerMillion: 5 })).toBe(30 + 5 + 40);
  expect(costOfRates({ audioOutputPerMillion: 0 })).toBe(40 + 20);
  expect(costOfRates({ imageOutputPerMillion: 9 })).toBe(40 + 40);
});

const rate = fc.double({ min: 0, max: 100, noNaN: true });
const optionalRate = fc.option(rate);
const rates = fc.record({
  inputPerMillion: rate,
  outputPerMillion: rate,
  cachedInputPerMillion: optionalRate,
  cacheWritePerMillion: optionalRate,
  audioInputPerMillion: optionalRate,
  audioOutputPerMillion: optionalRate,
  cachedAudioInputPerMillion: optionalRate,
  imageOutputPerMillion: optionalRate,
  perImage: optionalRate,
  perMinuteAudio: optionalRate,
  perRequest: optionalRate,
});
const usages = fc.record({
  prompt_tokens: fc.nat(100_000),
  completion_tokens: fc.nat(100_000),
  cachedTokens: fc.nat(120_000),
  cacheWriteTokens: fc.nat(120_000),
  mediaTokens: fc.option(
    fc.record({
      audio_input: fc.nat(120_000),
      cached_audio_input: fc.nat(120_000),
      audio_output: fc.nat(120_000),
      image_output: fc.nat(120_000),
    }),
    { nil: undefined },
  ),
  images: fc.nat(10),
  audioSeconds: fc.nat(1_000),
});

test('no request costs more than what is reserved for it, whatever its upstream caches and however much of it is audio', () => {
  fc.assert(
    fc.property(rates, usages, (price, usage) => {
      const { prompt_tokens, completion_tokens, images, audioSeconds } = usage;
      const expected = { prompt_tokens, completion_tokens, images, audioSeconds };
      const reserved = highestCostAt(price, expected);
      expect(costAt(price, usage)).toBeLessThanOrEqual(reserved * (1 + 1e-9) + 1e-12);
    }),
  );
});

test('no usage and no price make a cost that sums cannot hold', () => {
  const anyNumber = fc.oneof(
    fc.constantFrom(0, -1, Infinity, -Infinity, NaN, 1e308, 1.5, 2 ** 31),
    fc.double(),
  );
  const anyRate = fc.oneof(fc.constant(null), anyNumber);
  const anyRates = fc.record({
    inputPerMillion: anyNumber,
    outputPerMillion: anyNumber,
    cachedInputPerMillion: anyRate,
    cacheWritePerMillion: anyRate,
    audioInputPerMillion: anyRate,
    audioOutputPerMillion: anyRate,
    cachedAudioInputPerMillion: anyRate,
    imageOutputPerMillion: anyRate,
    perImage: anyRate,
    perMinuteAudio: anyRate,
    perRequest: anyRate,
  });
  const anyMedia = fc.record({
    audio_input: anyNumber,
    cached_audio_input: anyNumber,
    audio_output: anyNumber,
    image_output: anyNumber,
  });
  const anyUsage = fc.record({
    prompt_tokens: anyNumber,
    completion_tokens: anyNumber,
    cachedTokens: anyNumber,
    cacheWriteTokens: anyNumber,
    images: anyNumber,
    audioSeconds: anyNumber,
    mediaTokens: fc.option(anyMedia, { nil: undefined }),
  });
  fc.assert(
    fc.property(anyRates, anyUsage, (atRates, billed) => {
      for (const cost of [costAt(atRates, billed), highestCostAt(atRates, billed)]) {
        expect(cost >= 0 && cost <= 1e9).toBe(true);
      }
    }),
    { numRuns: 1_000 },
  );
});
