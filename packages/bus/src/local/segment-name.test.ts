import { formatSegmentName, newSegmentOwner, parseSegmentName } from './segment-name.ts';

test('a name has its owner and its place in the order', () => {
  const name = { owner: newSegmentOwner('rpc ~/..\\ 1', 5), sequence: 12 };
  expect(formatSegmentName(name)).not.toMatch(/[/\\ ]/);
  expect(parseSegmentName(formatSegmentName(name))).toEqual(name);
  expect(parseSegmentName('notes.txt')).toBeUndefined();
});
