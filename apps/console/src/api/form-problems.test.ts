import { problemAt, problemsIn, problemSentence } from './form-problems.ts';

test('params are checked with the schema of their method', async () => {
  expect(await problemsIn('keys.create', { name: 'ci' })).toEqual({});
  expect(await problemsIn('keys.create', { rpm: 0.5, models: ['ok', ''] })).toEqual({
    name: 'required: a text',
    rpm: 'must be a whole number',
    'models.1': expect.any(String),
  });
});

test('a number that is none is a problem of its field', async () => {
  expect(Object.keys(await problemsIn('keys.create', { name: 'ci', rpm: Number.NaN }))).toEqual([
    'rpm',
  ]);
});

test('a field has the problem of its entries', () => {
  const problems = { name: 'required', 'models.1': 'too short' };
  expect(problemAt(problems, 'models')).toBe('too short');
  expect(problemAt(problems, 'name')).toBe('required');
  expect(problemAt(problems, 'mode')).toBeUndefined();
});

test('a problem is shown as a sentence', () => {
  expect(problemSentence('must be a number')).toBe('Must be a number.');
  expect(problemSentence('Choose one.')).toBe('Choose one.');
});

test('a missing value needs no more than that word', () => {
  expect(problemSentence('required: a text')).toBe('Required.');
});
