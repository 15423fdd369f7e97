import { conversationTitle } from './conversation-title.ts';

test.each([
  { said: 'What is a cat?', title: 'What is a cat?' },
  { said: '  What\n is\t\ta   cat?  ', title: 'What is a cat?' },
  { said: 'x'.repeat(60), title: 'x'.repeat(60) },
  { said: 'x'.repeat(61), title: `${'x'.repeat(59)}…` },
  { said: `${'x'.repeat(58)} yyyy`, title: `${'x'.repeat(58)}…` },
  { said: '👋'.repeat(31), title: `${'👋'.repeat(29)}…` },
  { said: 'a\u0000b', title: 'ab' },
  { said: ' \n\u0000 ', title: undefined },
])('$said becomes $title', ({ said, title }) => {
  expect(conversationTitle(said)).toBe(title);
});
