import { isNestedTooDeeply, tryParseJson } from './try-parse.ts';

const lists = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

test('a text with as many levels as JSON.stringify can handle is parsed', () => {
  expect(JSON.stringify(tryParseJson(lists(1_000)))).toBe(lists(1_000));
  const wide = `[${Array.from({ length: 2_000 }, () => '[{}]').join(',')}]`;
  expect(tryParseJson(wide)).toHaveLength(2_000);
});

test.each([
  ['lists', lists(1_001)],
  ['objects', `${'{"a":'.repeat(1_001)}1${'}'.repeat(1_001)}`],
  ['lists after a text', `["\\\\\\"]",${lists(1_001)}]`],
])('deeper %s are not', (_what, text) => {
  expect(isNestedTooDeeply(text)).toBe(true);
  expect(tryParseJson(text)).toBeUndefined();
});

test('brackets in texts are no levels', () => {
  const text = JSON.stringify([`"\\${'['.repeat(5_000)}`, '\\', '{'.repeat(5_000)]);
  expect(tryParseJson(text)).toEqual(JSON.parse(text));
});
