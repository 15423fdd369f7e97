import { cleanMessage, upstreamRefused } from './upstream-error.ts';

const KEY = 'sk-upstream-1';
const message = (status: number, body: unknown, key: string | null = null): string =>
  upstreamRefused(status, typeof body === 'string' ? body : JSON.stringify(body), key).message;

test.each([
  { error: { message: 'no such model' } },
  { error: 'no such model' },
  { object: 'error', message: 'no such model' },
  { detail: 'no such model' },
  { base_resp: { status_code: 2013, status_msg: 'no such model' } },
])('the message of a JSON error is shown: %j', (body) => {
  expect(message(400, body)).toBe('upstream 400: no such model');
});

test.each(['<html>\n<h1>no such page</h1>', '', '"text"', '{}', '{"error":{"code":7}}', '[1]'])(
  'a body that has no message is replaced by the text of its status: %j',
  (body) => {
    expect(message(404, body)).toBe('upstream 404: Not Found');
  },
);

test('the message of a JSON error that is too long is read from its beginning', () => {
  const body = JSON.stringify({ error: { code: 7, message: `no "${'\u0001é'.repeat(50_000)}` } });
  for (const length of [64 * 1024, 64 * 1024 - 1, 64 * 1024 - 2, 64 * 1024 - 3, 64 * 1024 - 4]) {
    expect(message(500, body.slice(0, length))).toMatch(/^upstream 500: no " é é/);
  }
});

test('a status without a text of its own, or one of success, is called an error', () => {
  expect(message(599, '')).toBe('upstream 599: the upstream reported an error');
  expect(message(200, { error: {} })).toBe('upstream 200: the upstream reported an error');
});

test('a message is one line of at most 4 KB, cut between characters', () => {
  expect(message(500, { error: ' one\r\n\ttwo\u0000\u2028three ' })).toBe(
    'upstream 500: one two three',
  );
  const long = message(500, { error: `x${'ü'.repeat(100_000)}` });
  expect(Buffer.byteLength(long)).toBe('upstream 500: '.length + 4095);
  expect(long.endsWith('ü')).toBe(true);
});

test('a key is removed before the message is cut', () => {
  const quoted = message(401, { error: `${'x'.repeat(4090)}${KEY}` }, KEY);
  expect(quoted.endsWith('x[redac')).toBe(true);
  expect(message(401, `{"error":"no \\u0073k-upstream-1"}`, KEY)).toBe(
    'upstream 401: no [redacted]',
  );
});

test.each(['k', 'EMPTY', 'ollama', '11-letters-'])(
  'a key that is too short to be a secret removes nothing: %s',
  (key) => {
    expect(cleanMessage(`like EMPTY and ollama, 11-letters-`, key)).toBe(
      'like EMPTY and ollama, 11-letters-',
    );
  },
);
