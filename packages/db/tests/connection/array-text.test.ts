import * as fc from 'fast-check';
import { openTestDatabase, type OpenedDatabase } from '../test-database.ts';
import { arrayText } from '../../src/connection/array-text.ts';

let database: OpenedDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const read = async (type: string, text: string): Promise<unknown> =>
  (await database.raw.query(`SELECT to_json($1::${type}[]) AS read`, [text]))[0]?.['read'];

const storable = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .map((text) => text.replaceAll('\u0000', ''));
const texts = fc.oneof(
  storable,
  fc.constantFrom('', 'NULL', 'null', '{}', ',', '"', '\\', '\\"', ' a '),
);

test('Postgres reads every text, number and null as it was', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(texts), { maxLength: 8 }),
      fc.array(fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })), { maxLength: 8 }),
      async (words, numbers) => {
        expect(await read('text', arrayText(words))).toEqual(words);
        const exact = numbers.map((each) => (each === 0 ? 0 : each));
        expect(await read('float8', arrayText(exact))).toEqual(exact);
      },
    ),
    { numRuns: 20 },
  );
  expect(await read('boolean', arrayText([true, null, false]))).toEqual([true, null, false]);
});
