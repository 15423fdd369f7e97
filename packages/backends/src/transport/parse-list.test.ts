import { parseList } from './parse-list.ts';

const asItIs = (element: unknown): unknown => element;
/** Longer than what is parsed at once. */
const PADDING = 'x'.repeat(300_000);

describe.each([
  { length: 'short', padding: '' },
  { length: 'long', padding: PADDING },
])('a $length text', ({ padding }) => {
  test.each([
    ['objects', [{ a: [1, { b: ']' }] }, { 'c"]': '\\"[' }]],
    ['lists', [[1, 2], [], [[3]]]],
    ['scalars', [1, -2.5e3, null, true, 'a,b', '"\\', '']],
    ['nothing', []],
  ])('has a list of %s', async (_what, list) => {
    for (const space of [0, 2]) {
      const text = JSON.stringify(
        { before: '[{', padding, data: list, after: { data: [7] } },
        null,
        space,
      );
      const parsed = await parseList(text, 'data', asItIs);
      expect(parsed?.elements).toEqual(list);
      expect(parsed?.object).toMatchObject({ before: '[{', after: { data: [7] } });
    }
  });

  test.each([
    ['a list with a gap', `{"padding":"${padding}","data":[1,,2]}`],
    ['a list that does not end', `{"padding":"${padding}","data":[1,2`],
    ['a list that ends with a comma', `{"padding":"${padding}","data":[1,]}`],
    ['an element that does not end', `{"padding":"${padding}","data":[{"a":1]}`],
    ['a text that does not end', `{"padding":"${padding}","data":["a]}`],
    ['something behind the object', `{"padding":"${padding}","data":[1]}}`],
    ['a key that is no text', `{"padding":"${padding}",data:[1]}`],
  ])('that has %s is not JSON', async (_what, text) => {
    expect(await parseList(text, 'data', asItIs)).toBeUndefined();
  });

  test('without the list has no elements', async () => {
    const parsed = await parseList(JSON.stringify({ padding, data: 1 }), 'data', asItIs);
    expect(parsed).toMatchObject({ object: { data: 1 }, elements: undefined });
  });
});

test('other work runs while a long list is parsed', async () => {
  const vectors = Array.from({ length: 500 }, () => Array.from({ length: 200 }, () => 0.125));
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const turnsSeen = new Set<number>();
  const parsed = await parseList(JSON.stringify({ data: vectors }), 'data', (element) => {
    // As long as a vector of some thousand numbers takes.
    const until = performance.now() + 1;
    while (performance.now() < until);
    turnsSeen.add(turns);
    return element;
  });
  clearInterval(timer);
  expect(parsed?.elements).toEqual(vectors);
  expect(turnsSeen.size).toBeGreaterThan(1);
});
