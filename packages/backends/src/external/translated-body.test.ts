import { callSignatureFields, chatTurn } from '@model-gateway/dialects';
import { translatedTurn } from '../../tests/translated-turn.ts';
import { translatedBody } from './translated-body.ts';

const user = { role: 'user', content: 'Hi' };

test.each([
  { model: 'gpt-5', named: 'max_completion_tokens' },
  { model: 'gpt-5.2-mini', named: 'max_completion_tokens' },
  { model: 'openai/o3', named: 'max_completion_tokens' },
  { model: 'o4-mini', named: 'max_completion_tokens' },
  { model: 'gpt-4o', named: 'max_tokens' },
  { model: 'gpt-oss:20b', named: 'max_tokens' },
  { model: 'olmo-2', named: 'max_tokens' },
])('the limit of an answer is $named for $model', ({ model, named }) => {
  const body = { model, max_tokens: 9, messages: [user] };
  const { messages: _messages, ...sent } = translatedBody(translatedTurn(body));
  expect(Object.keys(sent).toSorted()).toEqual([named, 'model'].toSorted());
  expect(sent[named]).toBe(9);
  expect(translatedBody(chatTurn(body))).toBe(body);
});

test.each([
  { model: 'gpt-4o', sent: { model: 'gpt-4o' } },
  { model: 'openai/o3', sent: { model: 'openai/o3' } },
  { model: 'gpt-oss:20b', sent: { model: 'gpt-oss:20b', max_tokens: -1 } },
  { model: 'llama3.2', sent: { model: 'llama3.2', max_tokens: -1 } },
])('no limit is -1 for $model only where its server knows that', ({ model, sent }) => {
  expect(translatedBody(chatTurn({ model, max_tokens: -1 }))).toEqual(sent);
});

test('signatures of calls are sent only to models that make them', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const signed = { ...call, ...callSignatureFields('S') };
  const reply = { role: 'assistant', content: null, tool_calls: [signed] };
  const body = { model: 'm', max_tokens: 9, messages: [user, reply] };
  expect(JSON.parse(JSON.stringify(translatedBody(translatedTurn(body))))).toEqual({
    model: 'm',
    max_tokens: 9,
    messages: [user, { ...reply, tool_calls: [call] }],
  });
  const gemini = { ...body, model: 'google/gemini-3-pro' };
  expect(JSON.parse(JSON.stringify(translatedBody(translatedTurn(gemini))))).toEqual(gemini);
});
