import {
  estimatePrompt,
  estimatePromptInSteps,
  estimateUsage,
  textOfCompletion,
} from './estimate-usage.ts';

const completion = (message: Readonly<Record<string, unknown>>) => ({
  id: 'x',
  object: 'chat.completion' as const,
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
});

test('an answer is estimated by its text, in one piece or in parts', () => {
  expect(textOfCompletion(completion({ content: 'hello' }))).toBe('hello');
  const content = [{ type: 'text', text: 'hel' }, { type: 'image' }, { type: 'text', text: 'lo' }];
  expect(textOfCompletion(completion({ content }))).toBe('hello');
});

test('what an answer says in tool calls counts as it does in a stream', () => {
  const tool_calls = [
    { id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"x"}' } },
  ];
  const text = textOfCompletion(completion({ content: null, tool_calls }));
  expect(text).toBe('look{"at":"x"}');
  const messages = [{ role: 'user' as const, content: 'Hello!' }];
  expect(estimateUsage({ model: 'm', messages }, text)).toEqual({
    prompt_tokens: 2,
    completion_tokens: 4,
    total_tokens: 6,
  });
});

/** The tokens of a prompt with this part, and with these fields. */
const promptWith = (part: { readonly type: string }, fields: object = {}): number =>
  estimatePrompt({ model: 'm', messages: [{ role: 'user', content: [part] }], ...fields });

const text = { type: 'text', text: 'abcd' };
const base64 = (bytes: number): string => Buffer.alloc(bytes, 'pdf').toString('base64');
const pdf = (bytes: number) => `data:application/pdf;base64,${base64(bytes)}`;

test.each([
  ['text', text, 1, 1],
  ['a low image', { type: 'image_url', image_url: { url: 'data:,', detail: 'low' } }, 85, 85],
  ['a file', { type: 'file', file: { file_data: pdf(16_000) } }, 1_000, 1_010],
  ['a large file', { type: 'file', file: { file_data: pdf(3_000_000) } }, 16_384, 16_400],
  ['audio', { type: 'input_audio', input_audio: { data: base64(160_000) } }, 100, 110],
  ['a document', { type: 'document', source: { data: 'a b '.repeat(1_000) } }, 1_000, 1_010],
])('the prompt counts %s', (_what, part, least, most) => {
  expect(promptWith(part)).toBeGreaterThanOrEqual(least);
  expect(promptWith(part)).toBeLessThanOrEqual(most);
});

test.each([
  ['prediction', { type: 'content', content: 'a b '.repeat(1_000) }],
  ['documents', [{ title: 'x', text: 'a b '.repeat(1_000) }]],
  ['chat_template', 'a b '.repeat(1_000)],
])('the prompt counts the field %s, given or in `extra`', (name, value) => {
  for (const fields of [{ [name]: value }, { extra: { [name]: value } }]) {
    expect(promptWith(text, fields)).toBeGreaterThan(1_000);
    expect(promptWith(text, fields)).toBeLessThan(1_020);
  }
});

test('the prompt does not count what models do not read', () => {
  const metadata = { note: 'a b '.repeat(1_000) };
  const fields = {
    temperature: 1,
    seed: 7,
    logprobs: true,
    user: 'someone',
    stop: ['x'],
    metadata,
  };
  expect(promptWith(text, { ...fields, extra: { top_k: 5 } })).toBe(1);
});

test.each([
  ['few messages', [{ role: 'user' as const, content: 'Hi' }]],
  ['a long text', [{ role: 'user' as const, content: 'a你 b '.repeat(200_000) }]],
  [
    'a long text with a name and images',
    [{ role: 'user' as const, content: 'a b '.repeat(200_000), name: 'ann', images: ['x'] }],
  ],
  ['parts', [{ role: 'user' as const, content: [{ type: 'text', text: 'a b '.repeat(100_000) }] }]],
])('%s are estimated in steps as they are at once', async (_what, messages) => {
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const request = { model: 'm', messages, tools, documents: ['a b '] };
  expect(await estimatePromptInSteps(request)).toBe(estimatePrompt(request));
});
