import { slotsOf } from './row-slots.ts';

const BEFORE = new Map([
  ['a', 0],
  ['b', 1],
  ['c', 2],
]);

test('the rows of another page take the slots of the rows in their places', () => {
  expect(slotsOf(['a', 'b', 'c'], new Map())).toEqual([0, 1, 2]);
  expect(slotsOf(['d', 'e', 'f'], BEFORE)).toEqual([0, 1, 2]);
  expect(slotsOf(['d', 'a', 'f', 'g'], BEFORE)).toEqual([0, 1, 2, 3]);
});

test('where most rows stay, each keeps its slot wherever it moves, and a new one has its own', () => {
  expect(slotsOf(['c', 'b', 'a'], BEFORE)).toEqual([2, 1, 0]);
  expect(slotsOf(['new', 'a', 'b'], BEFORE)).toEqual([3, 0, 1]);
  expect(slotsOf(['b'], BEFORE)).toEqual([1]);
});
