import { canonicalJson } from './canonical-json.ts';
import { hasTooManyNumbers, tryParseExactJson } from './exact-json.ts';
import { tryParseJson } from './try-parse.ts';
import { numberOf, WrittenNumber } from './written-number.ts';

const rewritten = (text: string): string => JSON.stringify(tryParseExactJson(text));

const UNUSUAL = [
  '1234567890123456789',
  '9223372036854775807',
  '-1234567890123456789012345678901234567890',
  '0.1234567890123456789012345678901234567890',
  '1.0',
  '0.10',
  '100.00',
  '-0',
  '-0.0',
  '0.0',
  '0e0',
  '1e3',
  '1E3',
  '1e21',
  '1E+30',
  '1.5e-07',
  '0.0000001',
  '0.00000012',
  '1e400',
  '-1e-400',
  '9007199254740993',
  '0.30000000000000001',
];

test.each(UNUSUAL)('%s keeps its text and is read as a number', (text) => {
  for (const whole of [text, `[${text}]`, `{"a":{"b":[${text},"${text}",1]}}`, `[1,${text},-2.5]`])
    expect(rewritten(whole)).toBe(whole);
  expect(rewritten(` [ ${text} ,\n${text}\t] `)).toBe(`[${text},${text}]`);
  expect(tryParseExactJson(text)).toBeInstanceOf(WrittenNumber);
  expect(numberOf(tryParseExactJson(text))).toBe(Number(text));
});

test.each(['0', '1', '-1', '10', '1.5', '0.001', '1e+30', '9007199254740991', '1e-7', '0.000001'])(
  '%s is a plain number',
  (text) => {
    expect(tryParseExactJson(`{"a":${text}}`)).toEqual({ a: Number(text) });
    expect(typeof numberOf(tryParseExactJson(text))).toBe('number');
  },
);

test('digits in texts and in names are none', () => {
  const text = '{"1.0":"1.0 \\" 1e5","a\\\\":[1.50,"\\\\",-0],"x":"\\\\\\"1.0"}';
  expect(rewritten(text)).toBe(text);
  expect(tryParseExactJson('{"id":"12345678901234567890, 1.0","v":1}')).toEqual({
    id: '12345678901234567890, 1.0',
    v: 1,
  });
});

test('of a repeated name the last value counts, and __proto__ is a name like any other', () => {
  expect(rewritten('{"a":1.0,"b":2,"a":3}')).toBe('{"a":3,"b":2}');
  expect(rewritten('{"a":3,"a":1.0}')).toBe('{"a":1.0}');
  expect(rewritten('{"__proto__":1.0}')).toBe('{"__proto__":1.0}');
  expect(rewritten('{"__proto__":{"a":1.0}}')).toBe('{"__proto__":{"a":1.0}}');
});

test.each([
  '',
  '1.',
  '01.0',
  '[1.0',
  '{1.0:1}',
  '[1.0.0]',
  '1.0e',
  '-',
  '+1.0',
  '[1.0 1.0]',
  '.50',
])('%p is no JSON', (text) => {
  expect(tryParseExactJson(text)).toBeUndefined();
});

test('a copy keeps the text, and it computes', () => {
  const value = tryParseExactJson('{"n":5.0}') as { readonly n: number };
  expect(JSON.stringify({ ...value, more: [value.n] })).toBe('{"n":5.0,"more":[5.0]}');
  expect(value.n > 4 && value.n + 1).toBe(6);
  expect(Math.max(value.n, 1)).toBe(5);
});

test('equal numbers have the same canonical text, others another', () => {
  const key = (text: string) => canonicalJson(tryParseExactJson(text));
  expect(key('{"b":1.0,"a":2}')).toBe(key('{"a":2,"b":1.0}'));
  expect(key('[12345678901234567890]')).not.toBe(key('[12345678901234567891]'));
  expect(key('[1.0]')).not.toBe(key('[2.0]'));
  for (const [one, other] of [
    ['1.0', '1'],
    ['0.50', '0.5'],
    ['-0.0', '0'],
    ['1e3', '1000'],
    ['1E-7', '0.0000001'],
    ['12345678901234567890.10', '12345678901234567890.1'],
    ['123e20', '12300000000000000000000'],
  ])
    expect(key(`[${one}]`)).toBe(key(`[${other}]`));
  expect(key('1e400')).not.toBe(key('1e401'));
  expect(key('0.1')).not.toBe(key('0.1000000000000000055511151231257827'));
});

test('a text with more of them than can be kept is refused', () => {
  const listOf = (count: number) => `[${Array.from({ length: count }, () => '1.0').join(',')}]`;
  expect(rewritten(listOf(100_000))).toBe(listOf(100_000));
  expect(hasTooManyNumbers(listOf(100_000))).toBe(false);
  expect(tryParseExactJson(listOf(100_001))).toBeUndefined();
  expect(hasTooManyNumbers(listOf(100_001))).toBe(true);
});

/** Texts from a seed: nested, with numbers of every form. */
function randomText(seed: number): string {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const digits = (): string => Array.from({ length: 1 + next(40) }, () => next(10)).join('');
  const exponent = (): string => `${['e', 'E', 'e+', 'e-'][next(4)]}${next(400)}`;
  const number = (): string =>
    [
      next(3) === 0 ? '-' : '',
      digits().replace(/^0+(?=\d)/, ''),
      next(3) === 0 ? `.${digits()}` : '',
      next(5) === 0 ? exponent() : '',
    ].join('');
  const string = (): string =>
    JSON.stringify(['a', '1.0', '"', '\\', '\\"1e5', 'é\n', ''][next(7)]);
  const value = (depth: number): string => {
    switch (depth === 0 ? next(4) : next(6)) {
      case 0:
        return string();
      case 1:
        return ['true', 'false', 'null'][next(3)] ?? '';
      case 4:
        return `[${Array.from({ length: next(5) }, () => value(depth - 1)).join(',')}]`;
      case 5: {
        const members = Array.from({ length: next(5) }, (_, at) => `"k${at}":${value(depth - 1)}`);
        return `{${members.join(',')}}`;
      }
      default:
        return number();
    }
  };
  return value(6);
}

test('any text is written as it was read', () => {
  for (let seed = 0; seed < 3_000; seed += 1) {
    const text = randomText(seed);
    expect(rewritten(text)).toBe(text);
    expect(JSON.stringify(tryParseJson(rewritten(text)))).toBe(JSON.stringify(tryParseJson(text)));
  }
});
