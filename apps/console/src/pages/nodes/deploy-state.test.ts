import { withProgress } from './deploy-state.ts';

test('the state follows the notifications and keeps the last messages', () => {
  const first = withProgress(undefined, { status: 'pulling', progress: 10, message: 'a' });
  expect(first).toEqual({ status: 'pulling', progress: 10, lines: ['a'] });
  const same = withProgress(first, { status: 'pulling', progress: 20, message: 'a' });
  expect(same.lines).toEqual(['a']);
  const quiet = withProgress(same, { status: 'loading', progress: 90 });
  expect(quiet).toEqual({ status: 'loading', progress: 90, lines: ['a'] });
  let long = quiet;
  for (let line = 0; line < 20; line += 1)
    long = withProgress(long, { status: 'loading', progress: 95, message: `line ${line}` });
  expect(long.lines).toHaveLength(12);
  expect(long.lines.at(-1)).toBe('line 19');
});
