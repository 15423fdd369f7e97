import { ServiceError } from '@model-gateway/contracts';
import { namedField } from './named-field.ts';

test.each([
  ["'temperature': must be a number", 'temperature'],
  ["'messages.0.content': required: a text", 'messages.0.content'],
  ["'extra.frames' must not exceed the frames", 'extra.frames'],
  ["n: backends of the kind 'gemini' give one answer", 'n'],
  ['tools.0: a tool of this type cannot be sent to this model', 'tools.0'],
  ["the field 'prompt' of the form is larger than 65536 bytes", 'prompt'],
  ["Missing 'alias' field", 'alias'],
  ['the request body is not valid JSON', null],
  ["content-encoding 'zstd' is not supported; use one of: gzip", null],
])('%j names %j', (message, field) => {
  expect(namedField(new ServiceError('invalid_request', message))).toBe(field);
});

test('the field that the details name is the field', () => {
  const error = new ServiceError('invalid_value', "'a': wrong", { details: { param: 'b' } });
  expect(namedField(error)).toBe('b');
});
