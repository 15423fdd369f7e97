import { isBefore, stepAfter, STEPS } from './set-up.ts';

test('the steps follow each other, and the chat is the last', () => {
  expect(STEPS.map((step) => stepAfter(step))).toEqual(['models', 'key', 'chat', 'chat']);
});

test.each([
  { step: 'account', other: 'key', before: true },
  { step: 'key', other: 'key', before: false },
  { step: 'chat', other: 'models', before: false },
] as const)('$step is before $other: $before', ({ step, other, before }) => {
  expect(isBefore(step, other)).toBe(before);
});
