import { missingOutput } from './shown-output.ts';

test.each([
  { why: 'a missing line', shown: 'up\ndown', printed: 'up\nup' },
  { why: 'lines in another order', shown: 'first\nsecond', printed: 'second\nfirst' },
  { why: 'a longer line', shown: 'token', printed: 'token: secret' },
])('$why is reported', ({ shown, printed }) => {
  expect(missingOutput(shown, 'text', printed)).toBeDefined();
});

test('in text, other lines and any text in place of … are allowed', () => {
  expect(missingOutput('a … c\nend', 'text', 'begin\na b c\nmore\nend\n')).toBeUndefined();
});

test.each([
  { why: 'another value', shown: '{"a": 1}', printed: '{"a":2}' },
  { why: 'a missing field', shown: '{"a": "…"}', printed: '{"b":1}' },
  { why: 'a missing entry', shown: '{"a": [{"b": 1}]}', printed: '{"a":[{"b":2}]}' },
  { why: 'an error instead of a result', shown: '{"result": {}}', printed: '{"error":{}}' },
  { why: 'something that is not JSON', shown: '{"a": 1}', printed: 'curl: (7) no' },
])('in JSON, $why is reported', ({ shown, printed }) => {
  expect(missingOutput(shown, 'json', printed)).toBeDefined();
});

test('in JSON, more fields, more entries and other lines are allowed', () => {
  const printed = '{"first":true}\n{"a":[{"b":1},{"b":2,"id":"x-1"}],"c":null}\n';
  expect(
    missingOutput('{"a": [{"b": 2, "id": "x-…"}], "c": null}', 'json', printed),
  ).toBeUndefined();
});
