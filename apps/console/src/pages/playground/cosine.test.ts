import { cosine } from './cosine.ts';

test.each([
  { one: [1, 2], other: [2, 4], expected: 1 },
  { one: [1, 0], other: [0, 3], expected: 0 },
  { one: [1, 0], other: [-2, 0], expected: -1 },
  { one: [0, 0], other: [1, 1], expected: 0 },
])('vectors $one and $other are alike by $expected', ({ one, other, expected }) => {
  expect(cosine(one, other)).toBeCloseTo(expected);
});
