import { reportedUsage } from './reported-usage.ts';

test.each([
  {
    what: 'the usage of text',
    answer: { usage: { prompt_tokens: 3, completion_tokens: 4 } },
    tokens: [3, 4],
  },
  {
    what: 'input and output',
    answer: { usage: { input_tokens: 3, output_tokens: 4 } },
    tokens: [3, 4],
  },
  { what: 'input alone', answer: { usage: { type: 'tokens', input_tokens: 3 } }, tokens: [3, 0] },
  { what: 'a sum', answer: { usage: { total_tokens: 9 } }, tokens: [9, 0] },
  { what: 'seconds', answer: { usage: { type: 'duration', seconds: 60 } }, tokens: [0, 0] },
  {
    what: 'tokens in the metadata',
    answer: { meta: { billed_units: { search_units: 1 }, tokens: { input_tokens: 5 } } },
    tokens: [5, 0],
  },
  {
    what: 'billed tokens in the metadata',
    answer: { meta: { billed_units: { input_tokens: 5, output_tokens: 1 } } },
    tokens: [5, 1],
  },
])('$what', ({ answer, tokens: [prompt = 0, completion = 0] }) => {
  expect(reportedUsage(answer)).toMatchObject({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  });
});

test.each([
  undefined,
  null,
  'text',
  {},
  { usage: null },
  { usage: { total_tokens: -1 } },
  { usage: { input_tokens: '7' } },
  { meta: { billed_units: { search_units: 1 } } },
])('%j reports nothing', (answer) => {
  expect(reportedUsage(answer)).toBeUndefined();
});
