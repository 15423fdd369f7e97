import { returnPath } from './return-path.ts';

test.each(['/', '/keys', '/usage?offset=50'])('%s is a page to return to', (path) => {
  expect(returnPath(path)).toBe(path);
});

test.each([
  '//evil.example',
  '/\\\\evil.example',
  'https://evil.example',
  'javascript:1',
  '',
  5,
  undefined,
])('%p is no page to return to', (path) => {
  expect(returnPath(path)).toBeUndefined();
});
