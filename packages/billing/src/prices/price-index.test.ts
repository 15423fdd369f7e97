import { createPriceIndex } from './price-index.ts';
import { tokenRates, type StoredPrice } from './prices.ts';

const price = (
  pattern: string,
  input: number,
  { backend = null, source = 'override' }: Partial<StoredPrice> = {},
): StoredPrice => ({ pattern, backend, source, ...tokenRates(input, 0) });

const cloud = { name: 'cloud' };

test.each([
  ['gpt-4o-mini-2024-07-18', 'gpt-4o-mini'],
  ['openai/GPT-4o', 'gpt-4o'],
  ['gpt-4.1-nano', 'gpt-4.1-nano'],
  ['command-r-plus', 'command-r-plus'],
])('the longest pattern contained in %s is %s', (model, pattern) => {
  expect(createPriceIndex([]).find(model)?.record.pattern).toBe(pattern);
  expect(createPriceIndex([]).find(model, cloud)?.source).toBe('built-in');
});

describe('a price is looked up', () => {
  const index = createPriceIndex([
    price('gpt', 1),
    price('gpt-4o', 2, { source: 'catalogue' }),
    price('gpt-4o-mini', 3, { source: 'catalogue' }),
    price('gpt-4o-mini', 4),
    price('gpt', 5, { backend: 'cloud' }),
    price('gpt-4.1', 6, { backend: 'cloud' }),
    price('llama', 7, { backend: 'gpu' }),
    price('llama', 8),
  ]);

  test.each([
    { why: 'by pattern', model: 'gpt-x', input: 1, source: 'override' },
    { why: 'by the whole id first', model: 'GPT-4o', input: 2, source: 'catalogue' },
    { why: 'as set before as imported', model: 'gpt-4o-mini', input: 4, source: 'override' },
    { why: 'by no part of an imported id', model: 'gpt-4o-2', input: 2.5, source: 'built-in' },
    { why: 'of the backend first', model: 'gpt-4o', on: cloud, input: 5, source: 'override' },
    { why: 'longest first', model: 'gpt-4.1-x', on: cloud, input: 6, source: 'override' },
    {
      why: 'not of another backend',
      model: 'gpt-4.1',
      on: { name: 'other' },
      input: 2,
      source: 'built-in',
    },
    {
      why: 'of the backend, also for a local one',
      model: 'llama3',
      on: { name: 'gpu', facts: { isFree: true } },
      input: 7,
      source: 'override',
    },
  ])('$why', ({ model, on, input, source }) => {
    expect(index.find(model, on)).toMatchObject({ inputPerMillion: input, source });
  });

  test('as free on a backend of a free kind without a price of its own', () => {
    for (const model of ['llama3', 'gpt-4o', 'unknown']) {
      const found = index.find(model, { name: 'mine', facts: { isFree: true } });
      expect(found?.record).toEqual({
        source: 'local',
        input_per_million: 0,
        output_per_million: 0,
      });
    }
  });

  test('in vain for a model that matches nothing', () => {
    expect(index.find('unknown', cloud)).toBeUndefined();
  });
});
