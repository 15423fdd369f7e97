import { estimateUsage, textOfCompletion } from './estimate-usage.ts';

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
