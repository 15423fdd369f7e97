import { createInnerJson } from './inner-json.ts';

const values = (count: number): string => `[${'{},'.repeat(count)}{}]`;

test('texts are parsed as long as they are cheap together', () => {
  const parse = createInnerJson();
  expect(parse('{"a":[1,"b"]}')).toEqual({ a: [1, 'b'] });
  expect(parse('not JSON, with a "quote')).toBeUndefined();
  let parsed = 0;
  while (parsed < 1_000 && parse(values(5_000)) !== undefined) parsed += 1;
  expect(parsed).toBeGreaterThan(20);
  expect(parsed).toBeLessThan(100);
  expect(parse('[1,2]')).toBeUndefined();
});

test('one text with many values is not parsed, however it is hidden', () => {
  expect(createInnerJson()(values(1_000_000))).toBeUndefined();
  const parse = createInnerJson();
  parse('"');
  expect(parse(values(1_000_000))).toBeUndefined();
});

test('texts of more than 8 MiB together are not parsed', () => {
  const parse = createInnerJson();
  const text = JSON.stringify('"'.repeat(2 * 1024 * 1024));
  expect([parse(text), parse(text)].map((value) => typeof value)).toEqual(['string', 'undefined']);
});

test('a long text inside of one is cheap', () => {
  const file = { path: 'a', content: '[{"\\n'.repeat(500_000) };
  expect(createInnerJson()(JSON.stringify(file))).toEqual(file);
});
