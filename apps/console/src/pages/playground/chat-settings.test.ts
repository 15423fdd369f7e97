import { jsonOf, messagesOf, requestOf, storedTurns } from './chat-settings.ts';

const settings = { model: 'm', system: 'Be short.', temperature: undefined, maxTokens: undefined };
const earlier = [{ question: 'One?', images: [], answer: 'Two.' }];

test('a request has the system prompt, the earlier turns and the question with its images', () => {
  expect(messagesOf('Be short.', earlier, 'Three?', ['data:image/png;base64,AA'])).toEqual([
    { role: 'system', content: 'Be short.' },
    { role: 'user', content: 'One?' },
    { role: 'assistant', content: 'Two.' },
    { role: 'user', content: 'Three?', images: ['data:image/png;base64,AA'] },
  ]);
});

test('in a conversation only the question is sent, because the server has the rest', () => {
  const conversationId = '7b1f3f0e-2a9b-4a54-9a4e-3f1f3a0b8c11';
  const request = requestOf({ ...settings, conversationId }, earlier, 'Three?', []);
  expect(request).toEqual({
    model: 'm',
    messages: [{ role: 'user', content: 'Three?' }],
    conversation_id: conversationId,
  });
  expect(requestOf({ ...settings, conversationId }, [], 'One?', []).messages).toHaveLength(2);
});

test('tools and a schema become fields of the request', () => {
  const request = requestOf(
    { ...settings, tools: [{ type: 'function' }], schema: { type: 'object' } },
    [],
    'One?',
    [],
  );
  expect(request).toMatchObject({
    tools: [{ type: 'function' }],
    extra: { response_format: { json_schema: { schema: { type: 'object' } } } },
  });
});

test('stored messages become turns', () => {
  expect(
    storedTurns([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'One?' },
      { role: 'assistant', content: 'Two.', model: 'm' },
      { role: 'assistant', content: 'Three.', model: 'm' },
    ]),
  ).toEqual([
    { question: 'One?', images: [], answer: 'Two.', model: 'm' },
    { question: '', images: [], answer: 'Three.', model: 'm' },
  ]);
});

test.each([
  { text: '', kind: 'array' as const, isWrong: false },
  { text: '[{}]', kind: 'array' as const, isWrong: false },
  { text: '{}', kind: 'array' as const, isWrong: true },
  { text: '{}', kind: 'object' as const, isWrong: false },
  { text: '{', kind: 'object' as const, isWrong: true },
])('$text as $kind', ({ text, kind, isWrong }) => {
  expect(jsonOf(text, kind).isWrong).toBe(isWrong);
});
