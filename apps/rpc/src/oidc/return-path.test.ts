import { returnPathOf } from './return-path.ts';

test.each([
  { value: null, path: '/console/' },
  { value: '', path: '/console/' },
  { value: '/console/keys?page=2#top', path: '/console/keys?page=2#top' },
  { value: '/console/../docs', path: '/docs' },
])('$value leads to $path', ({ value, path }) => {
  expect(returnPathOf(value)).toBe(path);
});

test.each([
  'https://elsewhere.example/',
  '//elsewhere.example',
  '/\\elsewhere.example',
  '/..//elsewhere.example',
  '/./%2e//elsewhere.example',
  'console/',
  'javascript:alert(1)',
  '/console/\r\nset-cookie: a=b',
  '/console/ü',
  `/${'a'.repeat(2000)}`,
])('%j is refused', (value) => {
  expect(() => returnPathOf(value)).toThrow('return_to must be a path of this service');
});
