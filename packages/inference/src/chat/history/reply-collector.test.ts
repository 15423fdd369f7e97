import { createReplyCollector } from './reply-collector.ts';

test('a reply is put together out of its pieces', () => {
  const reply = createReplyCollector();
  reply.addText('Hel');
  reply.addText('lo');
  expect(reply.read()).toEqual({ content: 'Hello', toolCalls: [] });
});

test('tool calls are put together by their index, also when their pieces are mixed', () => {
  const reply = createReplyCollector();
  const start = (index: number, name: string) => ({
    index,
    id: `call-${index}`,
    type: 'function',
    function: { name, arguments: '' },
  });
  const more = (index: number, text: string) => ({
    index,
    id: null,
    function: { arguments: text },
  });
  reply.addToolCalls([start(1, 'look'), start(0, 'go')]);
  reply.addToolCalls([more(0, '{"to"')]);
  reply.addToolCalls([more(1, '{}'), more(0, ':1}')]);
  expect(reply.read().toolCalls).toEqual([
    { id: 'call-0', type: 'function', function: { name: 'go', arguments: '{"to":1}' } },
    { id: 'call-1', type: 'function', function: { name: 'look', arguments: '{}' } },
  ]);
});

test.each([undefined, null, 'text', 7, {}, { function: 'text' }])(
  'a piece that is %p breaks nothing',
  (piece) => {
    const reply = createReplyCollector();
    reply.addToolCalls([piece]);
    expect(reply.read().toolCalls).toEqual([{ function: { name: '', arguments: '' } }]);
  },
);
