import { frameSearch } from './time-range.ts';

test('the ends of a range are compared as moments, however they are written', () => {
  const ends = { from: '2026-10-25T02:30:00+02:00', to: '2026-10-25T01:00:00Z' };
  expect(frameSearch(ends)).toEqual(ends);
  expect(frameSearch({ from: ends.to, to: ends.from })).toEqual({});
});
