import { echoId, parseMessages } from './message.ts';

test.each([
  [undefined, 'null'],
  ['null', 'null'],
  ['"a"', '"a"'],
  ['"\\u00e9 \\n"', '"\\u00e9 \\n"'],
  ['0', '0'],
  ['-7', '-7'],
  ['9007199254740993', '9007199254740993'],
  ['9223372036854775807', '9223372036854775807'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['9223372036854775808', '"9223372036854775808"'],
  ['-9223372036854775809', '"-9223372036854775809"'],
  ['1.0', '"1.0"'],
  ['1.5', '"1.5"'],
  ['1e3', '"1e3"'],
  ['true', '"true"'],
  ['{"a":1}', '"{\\"a\\":1}"'],
  ['{ "a" : "b c" }', '"{\\"a\\":\\"b c\\"}"'],
  ['[1]', '"[1]"'],
])('the id %s is echoed as %s', (source, echo) => {
  expect(echoId(source)).toBe(echo);
});

test.each([
  ['{"jsonrpc":"2.0","method":"m","id":1}', { id: '1', call: { method: 'm', params: {} } }],
  [
    '{"jsonrpc":"2.0","method":"m","params":null}',
    { id: 'null', call: { method: 'm', params: {} } },
  ],
  [
    '{"jsonrpc":"2.0","method":"m","params":[1],"id":1}',
    { id: '1', call: { method: 'm', params: [1] } },
  ],
  ['{"jsonrpc":"1.0","method":"m","id":"x"}', { id: '"x"', call: undefined }],
  ['{"jsonrpc":2.0,"method":"m","id":1}', { id: '1', call: undefined }],
  ['{"jsonrpc":"2.0","id":1.0}', { id: '"1.0"', call: undefined }],
  ['{"jsonrpc":"2.0","method":7,"id":1}', { id: '1', call: undefined }],
  ['{"jsonrpc":"2.0","method":"m","params":"x","id":1}', { id: '1', call: undefined }],
  ['"hello"', { id: 'null', call: undefined }],
  ['null', { id: 'null', call: undefined }],
])('%s is parsed as one message', (text, message) => {
  expect(parseMessages(text)).toEqual({ kind: 'single', message });
});

test('a batch is parsed element by element, and an invalid element is marked separately', () => {
  const text = '[{"jsonrpc":"2.0","method":"a","id":9007199254740993}, 1, [] ]';
  expect(parseMessages(text)).toEqual({
    kind: 'batch',
    messages: [
      { id: '9007199254740993', call: { method: 'a', params: {} } },
      { id: 'null', call: undefined },
      { id: 'null', call: undefined },
    ],
  });
});

test('text that is not JSON is invalid', () => {
  expect(parseMessages('{"a":')).toEqual({ kind: 'invalid' });
  expect(parseMessages('')).toEqual({ kind: 'invalid' });
});
