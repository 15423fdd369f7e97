import { addressOf, orderOf, sortRows } from './table-order.ts';

test.each([
  { sort: undefined, page: undefined },
  { sort: 'cost', page: undefined },
  { sort: '-cost', page: 3 },
])('the order $sort on page $page is the same after it was read and written', ({ sort, page }) => {
  expect(addressOf(orderOf(sort, page))).toEqual({ sort, page });
});

test.each([
  { why: 'an empty column', sort: '-', page: 1 },
  { why: 'a number as column', sort: 7, page: 0 },
  { why: 'half a page', sort: '', page: 2.5 },
  { why: 'a text as page', sort: undefined, page: 'two' },
])('an address with $why shows the first page, unsorted', ({ sort, page }) => {
  expect(orderOf(sort, page)).toEqual({ sort: undefined, page: 0 });
});

test('rows are sorted by their keys, and equal ones stay in their order', () => {
  const rows = [
    { name: 'b', cost: 2 },
    { name: 'a', cost: 10 },
    { name: 'c', cost: 2 },
  ];
  const names = (isDescending: boolean): string =>
    sortRows(rows, ({ cost }) => cost, isDescending)
      .map(({ name }) => name)
      .join('');
  expect(names(false)).toBe('bca');
  expect(names(true)).toBe('abc');
});

test('the key of a row is read once, however many rows there are', () => {
  let reads = 0;
  const rows = Array.from({ length: 1000 }, (_, place) => (place * 7919) % 1000);
  const sorted = sortRows(
    rows,
    (row) => {
      reads += 1;
      return row;
    },
    false,
  );
  expect(sorted.slice(0, 3)).toEqual([0, 1, 2]);
  expect(reads).toBe(1000);
});
