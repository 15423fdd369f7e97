/** A choice of a text completion. */
export const choice = (text: string, finish_reason: string | null = null) => ({
  index: 0,
  text,
  logprobs: null,
  finish_reason,
});
/** A text completion, or a chunk of one. */
export const completion = (choices: readonly object[], more: object = {}) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'tool:latest',
  choices,
  ...more,
});
/** Its usage. */
export const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };

/** JSON requests, answers, and what is metered. */
export const RELAY_CASES = [
  {
    path: 'completions',
    body: { prompt: 'Hello!', suffix: 'end.', echo: true, n: 2, seed: null, best_of: 3 },
    answer: completion([choice('Hi', 'stop')], { usage }),
    metered: { prompt_tokens: 5, completion_tokens: 7 },
  },
  {
    path: 'completions',
    body: { prompt: ['Hello!', 'abcd'], suffix: 'abcd' },
    answer: completion([choice('abcdefgh', 'stop'), choice('ijkl', 'stop')]),
    metered: { prompt_tokens: 4, completion_tokens: 3 },
  },
  {
    path: 'completions',
    body: {
      prompt: [
        [1, 2],
        [3, 4, 5],
      ],
    },
    answer: completion([choice('abcd', 'stop')]),
    metered: { prompt_tokens: 5, completion_tokens: 1 },
  },
  {
    path: 'rerank',
    body: { query: 'abcd', documents: ['abcdefgh', { text: 'abcd' }], top_n: 1 },
    answer: { results: [{ index: 1, relevance_score: 0.5 }] },
    metered: { prompt_tokens: 4, completion_tokens: 0 },
  },
  {
    path: 'rerank',
    body: { query: 'abcd', documents: ['a'] },
    answer: { results: [], usage: { total_tokens: 815 } },
    metered: { prompt_tokens: 815, completion_tokens: 0 },
  },
  {
    path: 'moderations',
    body: {
      input: [
        { type: 'text', text: 'abcd' },
        { type: 'image_url', image_url: { url: 'data:,', detail: 'low' } },
      ],
    },
    answer: { id: 'm', model: 'omni', results: [{ flagged: false }] },
    metered: { prompt_tokens: 86, completion_tokens: 0 },
  },
  {
    path: 'images/generations',
    body: { prompt: 'a cat', size: '1024x1024' },
    answer: { created: 1, data: [{ b64_json: 'AA==' }] },
    metered: { prompt_tokens: 0, completion_tokens: 0 },
  },
  {
    path: 'images/generations',
    body: { prompt: 'a cat' },
    answer: {
      data: [{ b64_json: 'A'.repeat(3_000_000) }],
      usage: { input_tokens: 9, output_tokens: 1_056, total_tokens: 1_065 },
    },
    metered: { prompt_tokens: 9, completion_tokens: 1_056 },
  },
];
