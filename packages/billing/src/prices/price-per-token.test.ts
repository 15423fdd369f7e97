import { pricePerToken } from './price-per-token.ts';

test.each([
  [0, '0'],
  [0.15, '0.00000015'],
  [2.5, '0.0000025'],
  [10, '0.00001'],
  [1_000_000, '1'],
  [1_500_000.25, '1.50000025'],
  [1e-7, '0.0000000000001'],
  [2.5e-8, '0.000000000000025'],
  [1e21, '1000000000000000'],
  [123.456, '0.000123456'],
])('%d per million tokens is %s per token', (perMillion, perToken) => {
  expect(pricePerToken(perMillion)).toBe(perToken);
});
