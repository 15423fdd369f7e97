import { responsesDialect } from './index.ts';
import { completeRequest } from './request.ts';

const said = { model: 'm', created: 1, id: 'x', usage: { promptTokens: 1, completionTokens: 1 } };
const plain = { type: 'reasoning' as const, text: 'Hm' };
const call = { type: 'tool_call' as const, id: 'c1', name: 'look', arguments: '{}' };

function asked(body: object, isStored = false) {
  const request = responsesDialect.request.parse({ model: 'm', ...body });
  const context = { id: 'resp_7', createdAt: 5, previous: [], referenced: new Map() };
  return completeRequest(request, { ...context, isStored });
}

/** The items that a client gets for a thought and a call. */
function answered(body: object, isStored = false): readonly { readonly type: string }[] {
  const answer = { ...said, parts: [plain, call], finish: 'tool_calls' as const };
  const written = responsesDialect.writeAnswer(answer, asked({ input: 'Hi', ...body }, isStored));
  return (written as { output: { type: string }[] }).output;
}

test('a client that asks for encrypted thoughts gets also those that have no signature, and can send them back', () => {
  const include = ['reasoning.encrypted_content'];
  const items = answered({ include, store: false });
  expect(items).toMatchObject([{ encrypted_content: expect.any(String) as string }, {}]);
  // Some clients send nothing else of a thought.
  const sent = items.map((item) => (item.type === 'reasoning' ? { ...item, summary: [] } : item));
  const output = { type: 'function_call_output', call_id: 'c1', output: 'a cat' };
  expect(asked({ input: [...sent, output] }).chat.messages).toMatchObject([
    { role: 'assistant', reasoning_content: 'Hm', tool_calls: [{ id: 'c1' }] },
    { role: 'tool' },
  ]);
});

test.each([false, true])('for others the summary is the thought; stored: %s', (isStored) => {
  expect(answered({}, isStored)[0]).toEqual({
    id: 'rs_70',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'Hm' }],
  });
});
