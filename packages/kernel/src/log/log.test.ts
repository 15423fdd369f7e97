import { setImmediate } from 'node:timers/promises';
import { createLog } from './log.ts';

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
const KEY = 'service-3f2a51c9-1111-4222-8333-abcdefabc91d';

function capture(level: 'debug' | 'info' | 'warn' = 'info') {
  const lines: string[] = [];
  const log = createLog({
    level,
    app: 'test',
    destination: { write: (text) => void lines.push(...text.split(/(?<=\n)/)) },
  });
  return { log, lines };
}

test.each([
  ['a secret by its name', { password: 'hunter2' }, 'hunter2'],
  ['a nested secret', { request: { headers: { Authorization: 'Basic hunter2' } } }, 'hunter2'],
  ['an API key inside a text', { url: `http://x/?a=${KEY}` }, '1111-4222'],
  ['a JWT inside a text', { detail: `token was ${JWT}` }, 'c2lnbmF0dXJl'],
  ['a bearer value', { header: 'Bearer hunter2' }, 'hunter2'],
  ['credentials in a URL', { url: 'postgres://me:hunter2@host/db' }, 'hunter2'],
  ['a token in a query', { url: '/ws?token=hunter2&x=1' }, 'hunter2'],
  ['a prompt', { body: { messages: [{ role: 'user', content: 'hunter2' }] } }, 'hunter2'],
  [
    'an error and its cause',
    { error: new Error('x', { cause: new Error(`key ${KEY}`) }) },
    '1111-4222',
  ],
])('%s is not logged', (_what, fields, secret) => {
  const { log, lines } = capture();
  log.info(fields, 'something happened');
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain(secret);
  expect(lines[0]).toContain('[redacted]');
});

test('a secret in the message or in the bindings of a child is not logged', () => {
  const { log, lines } = capture();
  log.child({ token: 'hunter2' }).info({}, `called with ${KEY}`);
  expect(lines[0]).not.toContain('hunter2');
  expect(lines[0]).not.toContain('1111-4222');
});

test('a line is one JSON object with level, time, app, fields and message', () => {
  const { log, lines } = capture();
  log.warn({ backend: 'demo', tokens: 3 }, 'slow');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    app: 'test',
    backend: 'demo',
    tokens: 3,
    msg: 'slow',
  });
});

test('text of others cannot control a terminal that shows the log', () => {
  const { log, lines } = capture();
  const reason = 'a\u001b[31m\u009b2J\u202eb';
  log.warn({ reason }, `failed: ${reason}`);
  for (const unsafe of ['\u001b', '\u009b', '\u202e']) expect(lines[0]).not.toContain(unsafe);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ reason });
});

test('lines below the level are not written', () => {
  const { log, lines } = capture();
  log.debug({}, 'detail');
  expect(lines).toEqual([]);
});

const request = {
  requestId: '0190b6f0-0000-7000-8000-000000000000',
  method: 'POST',
  route: '/v1/chat/completions',
  status: 200,
  durationMs: 12.345,
  isProbe: false,
};

test('a request is a line like any other', async () => {
  const { log, lines } = capture();
  log.request({ ...request, traceId: 'abc' });
  await setImmediate();
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      app: 'test',
      request_id: request.requestId,
      trace_id: 'abc',
      method: 'POST',
      route: '/v1/chat/completions',
      status: 200,
      duration_ms: 12.3,
      msg: 'request',
    },
  ]);
});

test('lines of requests are written together, and before what is logged after them', async () => {
  const texts: string[] = [];
  const destination = { write: (text: string) => void texts.push(text) };
  const log = createLog({ level: 'info', app: 'test', destination });
  const child = log.child({ part: 'tunnel', token: 'hunter2' });
  log.request({ ...request, requestId: 'first' });
  child.request({ ...request, requestId: 'second' });
  expect(texts).toEqual([]);
  log.info({}, 'third');
  child.request({ ...request, requestId: 'fourth' });
  child.request({ ...request, requestId: 'fifth' });
  await setImmediate();
  const named = texts.map((text) => text.match(/first|second|third|fourth|fifth/g));
  expect(named).toEqual([['first', 'second'], ['third'], ['fourth', 'fifth']]);
  expect(texts[2]).toContain('"app":"test","part":"tunnel","token":"[redacted]"');
});

test('in a terminal a line is short, and safe; requests are logged at debug level', async () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const open = (level: 'debug' | 'info') =>
    createLog({ level, app: 'test', destination, isTerminal: true });
  open('info').request(request);
  open('info').warn({ backend: 'demo', reason: 'a\u001b[31m b', password: 'hunter2' }, 'slow');
  await setImmediate();
  expect(lines).toEqual([
    expect.stringMatching(
      /^\d\d:\d\d:\d\d warn  slow backend=demo reason="a\\u001b\[31m b" password="?\[redacted\]"?\n$/,
    ),
  ]);
  open('debug').request(request);
  await setImmediate();
  expect(lines[1]).toMatch(/ debug request request_id=\S+ method=POST route=\/v1\/\S+ status=200 /);
});

test('a request id that a caller chose is redacted and cannot break the line', async () => {
  const { log, lines } = capture();
  log.request({ ...request, requestId: '"}\\service-01234567-89ab-cdef-0123-456789abcdef' });
  await setImmediate();
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ request_id: '"}\\service-[redacted]' });
});

test.each([
  ['debug', 2],
  ['info', 1],
  ['warn', 0],
] as const)('at level %s %i of a request and a probe are logged', async (level, count) => {
  const { log, lines } = capture(level);
  log.request(request);
  log.request({ ...request, isProbe: true });
  await setImmediate();
  expect(lines).toHaveLength(count);
});

test.each([
  { reason: 'MISCONF Errors writing to the AOF file: No space left on device' },
  { error: Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' }) },
  {
    error: new Error('the database is not available', {
      cause: new Error('could not extend file: No space left on device'),
    }),
    remedy: 'try again',
  },
])('a line about a full disk says what to do', (fields) => {
  const { log, lines } = capture();
  log.warn(fields, 'writing failed');
  log.warn({ reason: 'timeout', error: Object.create(null) as object }, 'writing failed');
  expect(lines[0]).toContain('"remedy":"free space on the disk that is full');
  expect(lines[1]).not.toContain('remedy');
});
