import { splitThoughts } from './thoughts.ts';

test.each([
  { text: 'Hello', split: { thoughts: '', answer: 'Hello', isThinking: false } },
  { text: '<think>Hm', split: { thoughts: 'Hm', answer: '', isThinking: true } },
  {
    text: '\n<think>\nHm.\n</think>\n\nHello',
    split: { thoughts: 'Hm.', answer: 'Hello', isThinking: false },
  },
  {
    text: 'The tag <think> is text here',
    split: { thoughts: '', answer: 'The tag <think> is text here', isThinking: false },
  },
])('$text', ({ text, split }) => {
  expect(splitThoughts(text)).toEqual(split);
});
