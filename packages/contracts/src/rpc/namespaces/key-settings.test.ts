import { keySettings } from './key-settings.ts';

const { metadata } = keySettings;
const problemsOf = (value: unknown) =>
  metadata.safeParse(value).error?.issues.map(({ message }) => message);

test('the fields of metadata are counted before they are looked at', () => {
  let looks = 0;
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`k${at}`, 0]));
  Object.defineProperty(many, 'k0', { enumerable: true, get: () => (looks += 1) });
  expect(problemsOf(many)).toEqual(['must have at most 1000 fields']);
  expect(looks).toBe(0);
});

test('metadata of 4 KB passes as it is; more, or what cannot be stored, does not', () => {
  const full = { team: 'x'.repeat(4096 - '{"team":""}'.length) };
  expect(metadata.parse(full)).toEqual(full);
  expect(metadata.parse(null)).toBeNull();
  for (const refused of [{ team: `${full.team}x` }, { 'a\u0000': 1 }, { a: [{ b: '\ud800' }] }])
    expect(problemsOf(refused)).toEqual([expect.stringContaining('at most 4096 bytes of JSON')]);
  expect(problemsOf([1])).toHaveLength(1);
});
