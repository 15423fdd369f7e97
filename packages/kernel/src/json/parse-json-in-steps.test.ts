import { parseJsonInSteps } from './parse-json-in-steps.ts';

/** Longer than what is parsed at once. */
const PADDING = 'x'.repeat(70_000);
const many = <Element>(count: number, element: (index: number) => Element): Element[] =>
  Array.from({ length: count }, (_, index) => element(index));

test.each([
  ['nothing long', { a: [1, { b: ']' }], 'c"]': '\\"[' }],
  ['a long string', { before: '[{', text: PADDING, after: { list: [7] } }],
  ['a long string of escapes', ['\\"\n'.repeat(40_000), '\u0001'.repeat(40_000)]],
  ['backslashes', many(7, (shift) => 'x'.repeat(shift) + '\\'.repeat(70_000))],
  ['characters of two units', [`x${'😀'.repeat(70_000)}`]],
  ['halves of characters', ['\ud83d'.repeat(70_000)]],
  ['many numbers', many(100_000, (index) => index / 8)],
  ['many objects', { list: many(20_000, (index) => ({ index, text: 'a,b]}"' })) }],
  ['many fields', Object.fromEntries(many(20_000, (index) => [`f${index}`, [index, null, true]]))],
  ['long elements between short ones', [1, PADDING, {}, [], [PADDING, 2], '', { a: PADDING }]],
  ['an empty list', { padding: PADDING, list: [], object: {} }],
  ['a text', PADDING],
])('%s', async (_what, value) => {
  for (const space of [0, 2]) {
    const text = JSON.stringify(value, null, space);
    expect(JSON.stringify(await parseJsonInSteps(text))).toBe(JSON.stringify(value));
  }
});

test('a field with the name of the prototype is a field', async () => {
  const text = `{"padding":"${PADDING}","__proto__":{"a":1}}`;
  const value = await parseJsonInSteps(text);
  expect(Object.keys(value as object)).toEqual(['padding', '__proto__']);
  expect(JSON.stringify(value)).toBe(text);
});

test.each([
  ['a list with a gap', `{"padding":"${PADDING}","data":[1,,2]}`],
  ['a gap before a long element', `[,"${PADDING}"]`],
  ['a gap after a long element', `["${PADDING}",]`],
  ['two commas after a long element', `["${PADDING}",,1]`],
  ['a gap in an object', `{"a":"${PADDING}",}`],
  ['a list that does not end', `{"padding":"${PADDING}","data":[1,2`],
  ['a list that ends as an object', `["${PADDING}"}`],
  ['an object that ends as a list', `{"a":"${PADDING}"]`],
  ['an element that does not end', `{"padding":"${PADDING}","data":[{"a":1]}`],
  ['a text that does not end', `{"padding":"${PADDING}","data":["a]}`],
  ['a line break in a text', `["${PADDING}\n"]`],
  ['an unknown escape', `["${PADDING}\\x"]`],
  ['something behind the object', `{"padding":"${PADDING}","data":[1]}}`],
  ['a key that is no text', `{"padding":"${PADDING}",data:[1]}`],
  ['a key without a value', `{"${PADDING}"}`],
  ['a number of many digits', '7'.repeat(70_000)],
  ['many levels', `${'['.repeat(70_000)}${']'.repeat(70_000)}`],
  ['many levels of a long text', `${'['.repeat(50)}"${PADDING}"${']'.repeat(50)}`],
  ['nothing', ' '.repeat(70_000)],
])('%s is not JSON', async (_what, text) => {
  expect(await parseJsonInSteps(text)).toBeUndefined();
});

test('other work runs while a long text is parsed', async () => {
  const text = JSON.stringify(many(2_000_000, (index) => index));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await parseJsonInSteps(text);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});
