import { missingOutput } from './shown-output.ts';

test.each([
  { why: 'a line that did not come', shown: 'up\ndown', printed: 'up\nup' },
  { why: 'lines in another order', shown: 'first\nsecond', printed: 'second\nfirst' },
  { why: 'a line that goes on', shown: 'token', printed: 'token: secret' },
])('$why is missing', ({ shown, printed }) => {
  expect(missingOutput(shown, 'text', printed)).toBeDefined();
});

test('of texts, lines in between and what stands for anything may be there', () => {
  expect(missingOutput('a … c\nend', 'text', 'begin\na b c\nmore\nend\n')).toBeUndefined();
});

test.each([
  { why: 'another value', shown: '{"a": 1}', printed: '{"a":2}' },
  { why: 'a field that is not there', shown: '{"a": "…"}', printed: '{"b":1}' },
  { why: 'an entry that is not there', shown: '{"a": [{"b": 1}]}', printed: '{"a":[{"b":2}]}' },
  { why: 'an error instead of a result', shown: '{"result": {}}', printed: '{"error":{}}' },
  { why: 'something that is not JSON', shown: '{"a": 1}', printed: 'curl: (7) no' },
])('of JSON, $why is missing', ({ shown, printed }) => {
  expect(missingOutput(shown, 'json', printed)).toBeDefined();
});

test('of JSON, more fields, more entries and other lines may be there', () => {
  const printed = '{"first":true}\n{"a":[{"b":1},{"b":2,"id":"x-1"}],"c":null}\n';
  expect(
    missingOutput('{"a": [{"b": 2, "id": "x-…"}], "c": null}', 'json', printed),
  ).toBeUndefined();
});
