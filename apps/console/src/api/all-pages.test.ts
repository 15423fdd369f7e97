import { allPages } from './all-pages.ts';

test('pages are read until there are no more', async () => {
  const pages = [
    { has_more: true, after: 'b', members: ['a', 'b'] },
    { has_more: false, after: null, members: ['c'] },
  ];
  const asked: unknown[] = [];
  const read = await allPages(async (after) => {
    asked.push(after);
    return pages[asked.length - 1] ?? { has_more: false, after: null, members: [] };
  });
  expect(read.flatMap(({ members }) => members)).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([null, 'b']);
});
