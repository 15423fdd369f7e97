import { linePoints } from './line-points.ts';

test('a line goes from edge to edge, with zero at the bottom', () => {
  expect(linePoints([0, 5, 10], 100, 20)).toBe('2,18 50,10 98,2');
});

test('a single value is a level line', () => {
  expect(linePoints([4], 100, 20)).toBe('2,2 98,2');
});
