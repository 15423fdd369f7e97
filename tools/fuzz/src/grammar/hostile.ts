import * as fc from 'fast-check';

const nested = (open: string, close: string, depth: number): string =>
  `${open.repeat(depth)}${close.repeat(depth)}`;

/** Values that programs handle badly, as JSON text. */
const CONSTANTS = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  '1e-400',
  '2147483648',
  '-9223372036854775809',
  '9007199254740993',
  '1e308',
  '9'.repeat(400),
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\u001b[31m\\r\\nx-injected: 1"',
  '"\\u202e\\ufeff\\u2028"',
  '"__proto__"',
  '"constructor"',
  '"NaN"',
  '"1e400"',
  '"-1"',
  '"9999-99-99T99:99:99Z"',
  '"+275760-09-13T00:00:00.001Z"',
  '"00000000-0000-0000-0000-000000000000"',
  '"\' OR 1=1; --"',
  '"../../../etc/passwd"',
  '"%00%ff%s%n"',
  '"data:image/png;base64,"',
  '"http://[::1"',
  '"file:///etc/passwd"',
  '"javascript:0"',
  '"{{model}}"',
  '[]',
  '[null]',
  '[[]]',
  '[{}]',
  '{}',
  '{"":""}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"length":-1,"toString":1,"valueOf":null,"then":1,"toJSON":1}',
  '{"a":1,"a":2}',
];

const large = fc.oneof(
  fc.integer({ min: 1, max: 5000 }).map((depth) => nested('[', ']', depth)),
  fc
    .integer({ min: 1, max: 5000 })
    .map((depth) => nested('{"a":', '}', depth).replace(':}', ':0}')),
  fc.integer({ min: 1, max: 60_000 }).map((count) => JSON.stringify('a'.repeat(count))),
  fc.integer({ min: 1, max: 20_000 }).map((count) => JSON.stringify('\u0001'.repeat(count))),
  fc.integer({ min: 1, max: 20_000 }).map((count) => JSON.stringify('\u{1f600}'.repeat(count))),
  fc.integer({ min: 1, max: 20_000 }).map((count) => `[${'0,'.repeat(count)}0]`),
  fc.integer({ min: 1, max: 20_000 }).map((count) => '7'.repeat(count)),
  fc
    .integer({ min: 1, max: 5000 })
    .map((count) => `{${Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')}}`),
);

/** The text of a JSON value that a program may handle badly. */
export const hostileValue: fc.Arbitrary<string> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...CONSTANTS) },
  { weight: 4, arbitrary: fc.jsonValue().map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
  { weight: 1, arbitrary: large },
);

/** Fields that reserve tokens or choices, also inside `extra`. */
const COUNTS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'best_of'];

/** The name of a field. */
export const hostileName = fc.oneof(
  fc.constantFrom(...COUNTS),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '\u0000', 'then'),
  fc.string(),
);
