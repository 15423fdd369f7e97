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
])('%s is parsed as one message', async (text, message) => {
  expect(await parseMessages(text)).toEqual({ kind: 'single', message });
});

test('a batch is parsed element by element, and an invalid element is marked separately', async () => {
  const text = '[{"jsonrpc":"2.0","method":"a","id":9007199254740993}, 1, [] ]';
  expect(await parseMessages(text)).toEqual({
    kind: 'batch',
    messages: [
      { id: '9007199254740993', call: { method: 'a', params: {} } },
      { id: 'null', call: undefined },
      { id: 'null', call: undefined },
    ],
  });
});

test('text that is not JSON is invalid', async () => {
  expect(await parseMessages('{"a":')).toEqual({ kind: 'invalid' });
  expect(await parseMessages('')).toEqual({ kind: 'invalid' });
});

const digits = (count: number): string => '7'.repeat(count);

test.each([
  ['64 digits', digits(64), `"${digits(64)}"`],
  ['1,022 letters', `"${'a'.repeat(1_022)}"`, `"${'a'.repeat(1_022)}"`],
])('an id of %s is repeated', async (_what, id, echo) => {
  const parsed = await parseMessages(`{"jsonrpc":"2.0","method":"m","id":${id}}`);
  expect(parsed).toEqual({
    kind: 'single',
    message: { id: echo, call: { method: 'm', params: {} } },
  });
});

test.each([
  ['65 digits', digits(65)],
  ['a million digits', digits(1_000_000)],
  ['a million digits with a sign', `-${digits(1_000_000)}`],
  ['65 characters of a fraction', `0.${digits(63)}`],
  ['1,023 letters', `"${'a'.repeat(1_023)}"`],
  ['a large object', `{"a":"${'a'.repeat(1_024)}"}`],
])('an id of %s is refused', async (_what, id) => {
  const parsed = await parseMessages(`{"jsonrpc":"2.0","method":"m","id":${id}}`);
  expect(parsed).toEqual({ kind: 'single', message: { id: 'null', call: undefined } });
});

test.each([0, 1_001])('a batch of %i elements is refused', async (count) => {
  const text = JSON.stringify(Array.from({ length: count }, () => 0));
  expect(await parseMessages(text)).toEqual({ kind: 'invalid-request' });
});
