import { turnMessages } from './content.ts';

const read = (role: 'user' | 'assistant', block: unknown) =>
  turnMessages({ role, content: [block] }, 'messages.0', { ignored: new Set(), lost: new Set() });

const call = { type: 'tool_use', id: 'c1', name: 'look', input: {} };
const result = { type: 'tool_result', tool_use_id: 'c1' };

test.each([
  { role: 'user', block: { type: 'text' }, named: 'text' },
  { role: 'user', block: { type: 'text', text: 5 }, named: 'text' },
  { role: 'user', block: { ...result, tool_use_id: undefined }, named: 'tool_use_id' },
  { role: 'user', block: { ...result, tool_use_id: '' }, named: 'tool_use_id' },
  { role: 'user', block: { ...result, content: [{ type: 'text' }] }, named: 'content.0.text' },
  { role: 'user', block: { type: 'document', source: { type: 'url' } }, named: 'source.url' },
  { role: 'user', block: { type: 'document', source: { type: 'text' } }, named: 'source.data' },
  { role: 'assistant', block: { type: 'text' }, named: 'text' },
  { role: 'assistant', block: { ...call, id: undefined }, named: 'id' },
  { role: 'assistant', block: { ...call, name: '' }, named: 'name' },
  { role: 'assistant', block: { ...call, input: undefined }, named: 'input' },
  { role: 'assistant', block: { ...call, input: '{}' }, named: 'input' },
] as const)('a block of the $role without $named is refused by name: $block', (row) => {
  const { role, block, named } = row;
  expect(() => read(role, block)).toThrow(`messages.0.content.0.${named}: must `);
});

test('blocks that have what they need become messages', () => {
  expect(read('assistant', call)).toMatchObject([
    { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'look', arguments: '{}' }] },
  ]);
  expect(read('user', result)).toEqual([
    { role: 'tool', callId: 'c1', parts: [{ type: 'text', text: '' }] },
  ]);
  const source = { type: 'text', media_type: 'text/plain', data: '' };
  expect(read('user', { type: 'document', source })).toEqual([
    { role: 'user', parts: [{ type: 'text', text: '' }] },
  ]);
});
