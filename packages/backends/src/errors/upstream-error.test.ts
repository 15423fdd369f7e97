import { readRetryAfter } from './retry-after.ts';
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
  [{ error: { code: 404, message: 'no such model', status: 'NOT_FOUND' } }],
  { message: 'no such model' },
  { errors: ['no such model'] },
  { errors: [{ message: 'no such model' }] },
  { errors: { message: 'no such model' } },
  { detail: [{ msg: 'no such model', type: 'missing' }] },
  { detail: { message: 'no such model' } },
  { message: 'no such model', error: {} },
  'no such model\nat line 2 of a log',
])('the message of a JSON error is shown: %j', (body) => {
  expect(message(400, body)).toBe('upstream 400: no such model');
});

test.each(['at most one image', JSON.stringify({ error: { message: 'at most one image' } })])(
  'a router says what the provider answered: %s',
  (raw) => {
    const error = { message: 'Provider returned error', code: 400, metadata: { raw } };
    expect(message(400, { error })).toBe(
      'upstream 400: Provider returned error: at most one image',
    );
  },
);

test('each reason of a list is named with its place, the first three of them', () => {
  const detail = ['messages', 'model', 'seed', 'stop'].map((field) => ({
    loc: ['body', field],
    msg: 'Field required',
    type: 'missing',
  }));
  expect(message(422, { detail })).toBe(
    'upstream 422: body.messages: Field required; body.model: Field required; body.seed: Field required',
  );
});

test('of a long line of plain text the beginning is shown', () => {
  expect(message(500, 'x'.repeat(1_000))).toBe(`upstream 500: ${'x'.repeat(300)}`);
});

test.each([
  '<html>\n<h1>no such page</h1>',
  '',
  '"text"',
  '{}',
  '{"error":{"code":7}}',
  '[1]',
  '[]',
])('a body that has no message is replaced by the text of its status: %j', (body) => {
  expect(message(404, body)).toBe('upstream 404: Not Found');
});

test('the message of a JSON error that is too long is read from its beginning', () => {
  const body = JSON.stringify({ error: { code: 7, message: `no "${'\u0001é'.repeat(50_000)}` } });
  expect(message(500, `[\n${body}`.slice(0, 64 * 1024))).toMatch(/^upstream 500: no " é é/);
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

const refused = (status: number, body: unknown, retryAfter?: string) =>
  upstreamRefused(status, JSON.stringify(body), KEY, retryAfter);

test.each([
  [
    { error: { message: 'too long', type: 'invalid_request_error', code: 'c', param: 'messages' } },
    { message: 'too long', type: 'invalid_request_error', code: 'c', param: 'messages' },
  ],
  [{ error: { message: 'no', code: 400, param: null } }, { message: 'no', code: '400' }],
  [
    { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
    { message: 'busy', type: 'overloaded_error' },
  ],
  [
    { object: 'error', message: 'no', type: 'BadRequestError', code: 400 },
    { message: 'no', type: 'BadRequestError', code: '400' },
  ],
  [{ error: 'no' }, { message: 'no' }],
  [{ base_resp: { status_code: 2013, status_msg: 'no' } }, { message: 'no', code: '2013' }],
  [{ error: { type: { a: 1 }, code: true, param: '' } }, {}],
  ['text', {}],
])('the fields of a JSON error are kept: %j', (body, fields) => {
  expect(refused(400, body).upstream).toEqual({ status: 400, ...fields });
});

test('no field of an error reveals the key, has several lines, or is long', () => {
  const text = `${KEY}\n${'x'.repeat(10_000)}`;
  const { upstream } = refused(400, {
    error: { message: text, type: text, code: text, param: text },
  });
  const short = `[redacted] ${'x'.repeat(117)}`;
  expect(upstream).toEqual({
    status: 400,
    message: `[redacted] ${'x'.repeat(4085)}`,
    type: short,
    code: short,
    param: short,
  });
});

test.each([
  ...[400, 401, 403, 404, 405, 413, 415, 422].map((status) => ({ status, isFinal: true })),
  ...[302, 408, 409, 425, 429, 500, 503, 529].map((status) => ({ status, isFinal: false })),
])('a request that the upstream refused with $status cannot succeed: $isFinal', (row) => {
  expect(refused(row.status, {}).isFinal).toBe(row.isFinal);
});

test.each([
  { status: 400, code: 'bad_gateway', isBackendAtFault: false },
  { status: 401, code: 'upstream_auth', isBackendAtFault: false },
  { status: 403, code: 'upstream_auth', isBackendAtFault: false },
  { status: 404, code: 'bad_gateway', isBackendAtFault: false },
  { status: 429, code: 'bad_gateway', isBackendAtFault: true },
  { status: 500, code: 'bad_gateway', isBackendAtFault: true },
])('$status is the error $code', ({ status, ...expected }) => {
  expect(refused(status, {})).toMatchObject(expected);
});

const NOW = Date.parse('2030-01-01T00:00:00Z');

test.each([
  ['7', 7],
  [' 1.2 ', 2],
  ['0', 0],
  ['99999', 3600],
  ['Tue, 01 Jan 2030 00:00:30 GMT', 30],
  ['Wed, 02 Jan 2030 00:00:00 GMT', 3600],
  ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
  ['soon', undefined],
  ['-3 apples', undefined],
  ['-5', undefined],
  ['5,', undefined],
  ['2030-01-01T00:00:09Z', 9],
  ['', undefined],
  [undefined, undefined],
])('a retry-after of %j means %j seconds', (header, seconds) => {
  expect(readRetryAfter(header, NOW)).toBe(seconds);
});

const google = (details: object) => [{ error: { code: 400, message: 'no', details: [details] } }];

test('Google says in the body when to try again, and that a key is refused', () => {
  expect(refused(429, google({ retryDelay: '33.2s' })).retryAfterSecs).toBe(34);
  expect(refused(429, google({ retryDelay: '33.2s' }), '7').retryAfterSecs).toBe(7);
  expect(refused(400, google({ reason: 'API_KEY_INVALID' }))).toMatchObject({
    code: 'upstream_auth',
    status: 401,
  });
});

test('the time of the next try is part of the failure', () => {
  expect(refused(503, {}, '12')).toMatchObject({
    retryAfterSecs: 12,
    details: { upstream: { status: 503 }, retry_after_secs: 12 },
  });
  expect(refused(503, {}).retryAfterSecs).toBeUndefined();
});
