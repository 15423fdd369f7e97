import { createLog } from './log.ts';

const line = {
  requestId: '0190b6f0-0000-7000-8000-000000000000',
  isOwnId: true,
  method: 'POST',
  route: '/v1/chat/completions',
  status: 200,
  durationMs: 12.345,
  isProbe: false,
};

/** A log, and the lines that it wrote. */
function listen(level: 'debug' | 'info' | 'warn') {
  const written: string[] = [];
  const log = createLog({
    level,
    app: 'gateway',
    destination: { write: (text) => written.push(text) },
  });
  const lines = () =>
    written
      .join('')
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as Record<string, unknown>);
  return { log, lines };
}

test('a request is a line of JSON like any other', () => {
  const { log, lines } = listen('info');
  log.request(line);
  log.flush();
  expect(lines()).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      app: 'gateway',
      request_id: line.requestId,
      method: 'POST',
      route: '/v1/chat/completions',
      status: 200,
      duration_ms: 12.3,
      msg: 'request',
    },
  ]);
});

test('lines wait for others, but not for long and never behind what is logged later', async () => {
  const { log, lines } = listen('info');
  log.request(line);
  expect(lines()).toHaveLength(0);
  log.child({ part: 'x' }).warn({}, 'trouble');
  expect(lines().map(({ msg }) => msg)).toEqual(['request', 'trouble']);
  for (let count = 0; count < 64; count += 1) log.request(line);
  expect(lines()).toHaveLength(66);
});

test('an id that a caller chose is redacted and cannot break the line', () => {
  const { log, lines } = listen('info');
  log.request({
    ...line,
    isOwnId: false,
    requestId: '"}\\service-01234567-89ab-cdef-0123-456789abcdef',
  });
  log.flush();
  expect(lines()[0]?.['request_id']).toBe('"}\\service-[redacted]');
});

test('probes are told of at debug level alone, and nothing above info', () => {
  for (const [level, count] of [
    ['debug', 2],
    ['info', 1],
    ['warn', 0],
  ] as const) {
    const { log, lines } = listen(level);
    log.request(line);
    log.request({ ...line, isProbe: true, traceId: 'abc' });
    log.flush();
    expect(lines()).toHaveLength(count);
  }
});
