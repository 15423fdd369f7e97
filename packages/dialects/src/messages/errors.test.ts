import { messagesError } from './errors.ts';

const error = { status: 400, type: 'invalid_request_error', code: null, requestId: 'r' };

test.each([
  ["This model's maximum context length is 8192 tokens.", 'context_length_exceeded'],
  ['too many tokens', 'context_length_exceeded'],
  ['The decoder prompt (length 9) is longer than the maximum model length of 8', null],
  ['request (9 tokens) exceeds the available context size (8 tokens), try increasing it', null],
  ['The input token count (9) exceeds the maximum number of tokens allowed (8).', null],
])('%j (%s) begins as clients of this API expect it', (message, code) => {
  const { body } = messagesError({ ...error, message, code });
  expect(body.error).toEqual({
    type: 'invalid_request_error',
    message: `prompt is too long: ${message}`,
  });
});

test.each([
  { status: 400, message: 'prompt is too long: 9 tokens > 8 maximum' },
  { status: 400, message: "'messages': required" },
  { status: 502, message: 'the maximum context length is not known' },
])('$status $message stays as it is', ({ status, message }) => {
  expect(messagesError({ ...error, status, message }).body.error.message).toBe(message);
});
