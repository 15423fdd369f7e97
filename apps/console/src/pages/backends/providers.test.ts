import { freeName } from './providers.ts';

test('a second backend of a provider has a name of its own', () => {
  expect(freeName('openai', [])).toBe('openai');
  expect(freeName('openai', ['openai', 'openai-2'])).toBe('openai-3');
});
