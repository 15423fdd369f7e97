import { isMessage, serializeMessage } from './messages.ts';

test('a message is read as it was written', () => {
  const messages = [
    { id: 1, method: 'Do', params: { a: 1 } },
    { method: 'Told' },
    { id: 'x', result: null },
    { id: null, error: { code: -32_700, message: 'not JSON' } },
  ];
  for (const message of messages) {
    const value: unknown = JSON.parse(serializeMessage(message));
    expect(isMessage(value)).toBe(true);
    expect(value).toEqual({ jsonrpc: '2.0', ...message });
  }
});

test.each(['1', 'null', '{"id":{}}', '{"method":1}', '{"error":{"code":"x"}}'])(
  '%s is no message',
  (text) => {
    expect(isMessage(JSON.parse(text))).toBe(false);
  },
);
