import * as fc from 'fast-check';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { exactUsd, parseUsd, usdText } from '../../src/usage/exact-usd.ts';

let database: OpenedDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test('sums of amounts are those of Postgres, to the last digit', async () => {
  const amount = fc.oneof(
    fc.double({ min: 0, max: 1e9, noNaN: true }).filter((usd) => usd === 0 || usd >= 1e-16),
    fc.constantFrom(0.1, 0.2, 1e-7, 123.456, 0.1883697509765625, 2.5e-6, 1_000_000),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 50 }), async (amounts) => {
      const [found] = await database.raw.query<{ sum: string; isSame: boolean }>(
        `SELECT sum::text, sum = $2::numeric AS "isSame"
         FROM (SELECT sum(usd::numeric) FROM unnest($1::float8[]) AS usd) AS all_of_them`,
        [amounts, usdText(amounts.reduce((sum, usd) => sum + exactUsd(usd), 0n))],
      );
      expect(found?.isSame).toBe(true);
      expect(parseUsd(found?.sum ?? '')).toBe(
        amounts.reduce((sum, usd) => sum + exactUsd(usd), 0n),
      );
    }),
    { numRuns: 50 },
  );
});

test.each([
  ['0', '0'],
  ['-1.50', '-1.5'],
  ['1e-7', '0.0000001'],
  ['1.25e+3', '1250'],
  ['0.00000000000000000000000000000000001', '0'],
])('%s is %s', (text, written) => {
  expect(usdText(parseUsd(text))).toBe(written);
});

test('what is no number is refused', () => {
  expect(() => parseUsd('NaN')).toThrow('no amount');
});
