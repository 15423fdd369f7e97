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

const rate = fc.double({ min: 0, max: 100, noNaN: true });
const optionalRate = fc.option(rate);
const rates = fc.record({
  inputPerMillion: rate,
  outputPerMillion: rate,
  cachedInputPerMillion: optionalRate,
  cacheWritePerMillion: optionalRate,
  perImage: optionalRate,
  perMinuteAudio: optionalRate,
  perRequest: optionalRate,
});
const usages = fc.record({
  prompt_tokens: fc.nat(100_000),
  completion_tokens: fc.nat(100_000),
  cachedTokens: fc.nat(120_000),
  cacheWriteTokens: fc.nat(120_000),
  images: fc.nat(10),
  audioSeconds: fc.nat(1_000),
});

test('no request costs more than what is reserved for it, whatever its upstream caches', () => {
  fc.assert(
    fc.property(rates, usages, (price, usage) => {
      const { cachedTokens: _cached, cacheWriteTokens: _written, ...expected } = usage;
      const reserved = highestCostAt(price, expected);
      expect(costAt(price, usage)).toBeLessThanOrEqual(reserved * (1 + 1e-9) + 1e-12);
    }),
  );
});
