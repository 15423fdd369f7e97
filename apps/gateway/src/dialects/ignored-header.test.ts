import { ignoredHeader } from './ignored-header.ts';

test('names of a client cannot break the header or make it long', () => {
  expect(ignoredHeader([])).toEqual([]);
  expect(ignoredHeader(['web_search', 'a\r\nx: 1', 'größe'])).toEqual([
    'x-service-ignored',
    'web_search, a??x: 1, gr??e',
  ]);
  const many = Array.from({ length: 1_000 }, (_, at) => `${at}`.padEnd(10_000, 'x'));
  const [, value = ''] = ignoredHeader(many);
  expect(value.length).toBeLessThan(4_096);
  expect(value).toMatch(/, 950 more$/);
});
