import { matching } from './matching.ts';

const names = ['Alpha', 'beta', 'gamma', 'ALPHABET'];
const nameOf = (name: string): string => name;

test.each([
  { text: '', max: 9, found: names },
  { text: ' alpha ', max: 9, found: ['Alpha', 'ALPHABET'] },
  { text: 'a', max: 2, found: ['Alpha', 'beta'] },
  { text: 'delta', max: 9, found: [] },
])('“$text” finds $found', ({ text, max, found }) => {
  expect(matching(names, text, { nameOf, max })).toEqual(found);
});

test('the search ends with the last item that is wanted', () => {
  let read = 0;
  matching(names, 'a', {
    max: 1,
    nameOf: (name) => {
      read += 1;
      return name;
    },
  });
  expect(read).toBe(1);
});
