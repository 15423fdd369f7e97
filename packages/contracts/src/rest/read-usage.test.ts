import { readMediaTokens, readCachedTokens, readUsage } from './read-usage.ts';

const whole = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

test.each([
  { what: 'everything', usage: whole, read: whole },
  { what: 'no total', usage: { prompt_tokens: 3, completion_tokens: 2 }, read: whole },
  {
    what: 'no completion',
    usage: { prompt_tokens: 3, completion_tokens: null },
    read: { prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 },
  },
  {
    what: 'thoughts in the completion',
    usage: { ...whole, completion_tokens_details: { reasoning_tokens: 1 } },
    read: whole,
  },
  {
    what: 'thoughts beside the completion',
    usage: {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      completion_tokens_details: { reasoning_tokens: 94 },
    },
    read: { prompt_tokens: 32, completion_tokens: 103, total_tokens: 135 },
  },
  {
    what: 'a total that is too small',
    usage: { ...whole, total_tokens: 1 },
    read: { ...whole, total_tokens: 1 },
  },
  { what: 'more', usage: { ...whole, prompt_tokens_details: {} }, read: whole },
])('usage with $what is parsed', ({ usage, read }) => {
  expect(readUsage(usage)).toEqual(read);
});

test('thoughts of Gemini may be in the total alone; the total of other models says nothing', () => {
  const usage = { prompt_tokens: 20, completion_tokens: 424, total_tokens: 1016 };
  expect(readUsage(usage, 'models/gemini-2.5-pro')?.completion_tokens).toBe(996);
  const cached = { ...usage, prompt_tokens_details: { cached_tokens: 10 } };
  expect(readUsage(cached, 'gemini-2.5-pro')?.completion_tokens).toBe(996);
  expect(readUsage(usage, 'other')?.completion_tokens).toBe(424);
  expect(readUsage(usage)?.completion_tokens).toBe(424);
});

test.each([
  undefined,
  null,
  'x',
  [],
  {},
  { total_tokens: 50 },
  { prompt_tokens: '12', completion_tokens: 1 },
  { prompt_tokens: 1.5, completion_tokens: 2 },
  { prompt_tokens: -1, completion_tokens: 2 },
  { prompt_tokens: 1e300, completion_tokens: 2 },
])('%j is not usage', (usage) => {
  expect(readUsage(usage)).toBeUndefined();
});

test.each([
  { what: 'the details', usage: { prompt_tokens_details: { cached_tokens: 4 } }, read: 4 },
  { what: 'the newer details', usage: { input_tokens_details: { cached_tokens: 5 } }, read: 5 },
  { what: 'a count of its own', usage: { prompt_cache_hit_tokens: 6 }, read: 6 },
  { what: 'null details', usage: { prompt_tokens_details: null }, read: undefined },
  { what: 'no number', usage: { prompt_tokens_details: { cached_tokens: '4' } }, read: undefined },
  { what: 'no usage', usage: null, read: undefined },
])('the cached tokens of an upstream that reports $what', ({ usage, read }) => {
  expect(readCachedTokens(usage)).toBe(read);
});

const audio = (count: unknown) => ({ audio_tokens: count });

test.each([
  {
    what: 'a chat completion',
    usage: {
      prompt_tokens_details: { cached_tokens: 5, ...audio(7) },
      completion_tokens_details: audio(9),
    },
    read: { audio_input: 7, cached_audio_input: 0, audio_output: 9, image_output: 0 },
  },
  {
    what: 'a realtime response',
    usage: {
      input_token_details: { ...audio(7), cached_tokens_details: audio(3) },
      output_token_details: audio(9),
    },
    read: { audio_input: 7, cached_audio_input: 3, audio_output: 9, image_output: 0 },
  },
  {
    what: 'a realtime response under other names',
    usage: { input_tokens_details: audio(7), output_tokens_details: audio(0) },
    read: { audio_input: 7, cached_audio_input: 0, audio_output: 0, image_output: 0 },
  },
  {
    what: 'a transcription',
    usage: { type: 'tokens', input_token_details: { text_tokens: 0, ...audio(14) } },
    read: { audio_input: 14, cached_audio_input: 0, audio_output: 0, image_output: 0 },
  },
  {
    what: 'an image',
    usage: { output_tokens_details: { image_tokens: 1290, text_tokens: 3 } },
    read: { audio_input: 0, cached_audio_input: 0, audio_output: 0, image_output: 1290 },
  },
  { what: 'text', usage: { prompt_tokens_details: audio(0) }, read: undefined },
  { what: 'no number', usage: { prompt_tokens_details: audio('7') }, read: undefined },
  { what: 'no usage', usage: null, read: undefined },
])('the tokens that are no text in the usage of $what', ({ usage, read }) => {
  expect(readMediaTokens(usage)).toEqual(read);
});
