import { forbidsAnother, matchesProvider, providerRank } from './provider-match.ts';

const backend = { name: 'OpenAI', kind: 'external' as const };

test.each([
  ['its name', 'openai', true],
  ['its kind', 'External', true],
  ['another name', 'other', false],
  ['nothing', {}, true],
  ['empty lists', { order: [], only: [], ignore: [], allow_fallbacks: false }, true],
  ['null', { order: null, only: null, ignore: null }, true],
  ['only it', { only: ['x', 'openai'] }, true],
  ['only others', { only: ['x'] }, false],
  ['ignore it', { ignore: ['OPENAI'] }, false],
  ['ignore its kind', { ignore: ['external'] }, false],
  ['only it and ignore it', { only: ['openai'], ignore: ['openai'] }, false],
  ['an order without it', { order: ['x'] }, true],
  ['an order without it, and no fallbacks', { order: ['x'], allow_fallbacks: false }, false],
  ['an order with it, and no fallbacks', { order: ['x', 'openai'], allow_fallbacks: false }, true],
])('a hint that names %s', (_what, hint, expected) => {
  expect(matchesProvider(backend, hint)).toBe(expected);
});

test('the order of a hint ranks backends; those that it does not name come last', () => {
  expect(providerRank(backend, { order: ['x', 'openai'] })).toBe(1);
  expect(providerRank(backend, { order: ['x', 'y'] })).toBe(2);
  expect(providerRank(backend, 'openai')).toBe(0);
  expect(providerRank(backend, undefined)).toBe(0);
});

test('a request stays with one backend if it forbids fallbacks and names no order', () => {
  expect(forbidsAnother({ allow_fallbacks: false })).toBe(true);
  expect(forbidsAnother({ allow_fallbacks: false, order: ['x'] })).toBe(false);
  expect(forbidsAnother({ allow_fallbacks: true })).toBe(false);
  expect(forbidsAnother('x')).toBe(false);
  expect(forbidsAnother(undefined)).toBe(false);
});
