import { manualClock } from '@model-gateway/kernel';
import { partsOf, readCompletion } from './completion.ts';

const NOW_SECS = 1_700_000_000;
const clock = manualClock(NOW_SECS * 1000);
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const whole = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 5,
  model: 'm-2024',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage,
};

const read = (body: unknown) =>
  readCompletion({ status: 200, text: JSON.stringify(body) }, { model: 'm', clock, secret: null });

test('an answer with everything in it is passed on as it was written', () => {
  expect(read(whole)).toEqual({ completion: whole, text: JSON.stringify(whole) });
});

test.each([
  {
    what: 'absent',
    fields: { id: undefined, object: undefined, created: undefined, model: undefined },
  },
  { what: 'null', fields: { id: null, object: null, created: null, model: null } },
  { what: 'of another type', fields: { id: 7, object: 'text', created: 'now', model: ['m'] } },
])('what is $what around a good answer is filled in', ({ fields }) => {
  expect(read({ ...whole, ...fields, system_fingerprint: 'x' })).toEqual({
    completion: {
      ...whole,
      id: expect.stringMatching(/^chatcmpl-[0-9a-f-]{36}$/) as unknown,
      created: NOW_SECS,
      model: 'm',
      system_fingerprint: 'x',
    },
  });
});

test('what can be read beside it stays', () => {
  expect(read({ ...whole, id: null }).completion).toMatchObject({ created: 5, model: 'm-2024' });
});

test('a choice is completed by what goes without saying', () => {
  const choices = [
    { message: { content: 'Hi' } },
    { index: null, message: { role: null, content: 'Ho' }, finish_reason: 3, logprobs: null },
  ];
  expect(read({ ...whole, choices }).completion.choices).toEqual([
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: null },
    {
      index: 1,
      message: { role: 'assistant', content: 'Ho' },
      finish_reason: null,
      logprobs: null,
    },
  ]);
});

test.each([
  { why: 'no choices', body: { ...whole, choices: undefined } },
  { why: 'choices without a message', body: { ...whole, choices: [{ index: 0 }] } },
  { why: 'a list as a choice', body: { ...whole, choices: [[]] } },
  { why: 'a list as a message', body: { ...whole, choices: [{ index: 0, message: [] }] } },
  { why: 'a list around it', body: [whole] },
  { why: 'choices without end', body: { ...whole, choices: Array(2_000_000).fill(0) } },
  { why: 'something else altogether', body: 'Hi' },
])('an answer with $why is a failure of the upstream', ({ body }) => {
  expect(() => read(body)).toThrow('not a chat completion');
});

test('calls get an id and arguments that are text', () => {
  const call = { function: { name: 'look', arguments: { at: 'Rome' } } };
  const message = { role: 'assistant', content: null, tool_calls: [{ id: '', ...call }] };
  const { completion } = read({ ...whole, choices: [{ ...whole.choices[0], message }] });
  expect(completion.choices[0]?.message).toMatchObject({
    tool_calls: [
      {
        id: expect.stringMatching(/^call_/) as string,
        function: { name: 'look', arguments: '{"at":"Rome"}' },
      },
    ],
  });
});

test.each(['error', 'abort'])('an answer that ended with %s is not whole', (reason) => {
  const choices = [{ ...whole.choices[0], finish_reason: reason }];
  expect(() => read({ ...whole, choices })).toThrow(`'${reason}'`);
});

test('a long answer is passed on as it was written', () => {
  const message = { role: 'assistant', content: 'a"'.repeat(300_000) };
  const long = { ...whole, choices: [{ index: 0, message, finish_reason: 'stop' }] };
  expect(read(long)).toEqual({ completion: long, text: JSON.stringify(long) });
});

test('an answer to a request for a stream has the form of chunks, in which each call has an index', async () => {
  const call = { type: 'function', function: { name: 'look', arguments: '{}' } };
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'a', ...call },
      { id: 'b', ...call },
    ],
  };
  const choice = { index: 0, logprobs: { content: [] }, finish_reason: 'tool_calls' };
  const chunks: unknown[] = [];
  const { completion } = read({ ...whole, choices: [{ ...choice, message }] });
  for await (const { own } of partsOf(completion)) chunks.push(own?.value);
  const { choices: _choices, usage: _usage, ...head } = whole;
  const chunk = { ...head, object: 'chat.completion.chunk' };
  const tool_calls = [
    { index: 0, id: 'a', ...call },
    { index: 1, id: 'b', ...call },
  ];
  expect(chunks).toEqual([
    { ...chunk, choices: [{ ...choice, delta: { ...message, tool_calls } }] },
    { ...chunk, choices: [], usage },
  ]);
});
