import { waitUntil } from '@model-gateway/testkit';
import { sendRaw, type RawAnswer } from './raw-request.ts';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/': page(
      'Start',
      '<input aria-label="Name"><button onclick="document.title = document.querySelector(\'input\').value">Go</button>',
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const send = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<RawAnswer> => sendRaw(tool.port, { method, path, headers, body });

describe('who is answered', () => {
  test.each(['/health', '/info', '/nope', '/events'])(
    'a foreign Host is refused on %s',
    async (path) => {
      for (const host of [
        'evil.example',
        `evil.example:${tool.port}`,
        '127.0.0.1',
        `127.0.0.1:${tool.port + 1}`,
      ]) {
        const answer = await send('GET', path, { host });
        expect(answer).toMatchObject({ status: 403, body: { ok: false, code: 'FORBIDDEN_HOST' } });
      }
    },
  );

  test('the names of loopback are ours', async () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST']) {
      expect((await send('GET', '/health', { host: `${host}:${tool.port}` })).status).toBe(200);
    }
  });

  test('pages of other origins are refused, also when they ask before', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      `http://evil.example:${tool.port}`,
      'http://localhost:1',
    ]) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const answer = await send(
          method,
          '/evaluate',
          { origin },
          method === 'POST' ? '{"expression":"1"}' : '',
        );
        expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN_ORIGIN' } });
        expect(
          Object.keys(answer.headers).filter((name) => name.startsWith('access-control')),
        ).toEqual([]);
      }
    }
    expect((await send('GET', '/health', { origin: `http://127.0.0.1:${tool.port}` })).status).toBe(
      200,
    );
  });

  test('frames and images of pages are refused too, whose requests have no Origin', async () => {
    await tool.open(`${site.url}/`);
    const load = `(url) => new Promise((resolve) => {
      const frame = document.createElement('iframe');
      frame.onload = () => resolve(1);
      frame.src = url;
      document.body.append(frame);
    })`;
    await tool.post('/evaluate', { function: load, args: [`${tool.url}/console?clear=true`] });
    const { data } = await tool.get('/a11y?format=text');
    expect(data.text).toContain('Requests of web pages are not allowed.');
  });

  test('no answer has CORS headers', async () => {
    const answer = await send('GET', '/health', { origin: `http://localhost:${tool.port}` });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    );
  });
});

describe('what is answered', () => {
  test('health, without a browser too', async () => {
    expect((await tool.get('/health')).data).toEqual({
      status: 'ok',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      api_version: '1',
      uptime_secs: expect.any(Number),
    });
  });

  test('what runs here', async () => {
    await tool.open(`${site.url}/`);
    expect((await tool.get('/info')).data).toEqual({
      version: expect.any(String),
      api_version: '1',
      pid: process.pid,
      debug_port: tool.port,
      started_at_iso: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      uptime_secs: expect.any(Number),
      backend: expect.stringMatching(/^(chrome|chromium|edge)$/),
      backend_requested: 'auto',
      browser_engine: 'chromium',
      browser_connected: true,
      browser_version: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
      browser_pid: expect.any(Number),
      executable: expect.any(String),
      resolved_by: expect.stringMatching(/^(override|baked|system|download)$/),
      protocol: 'cdp',
      headless: true,
      sandbox: process.getuid?.() !== 0,
      proxy: null,
      url: `${site.url}/`,
      title: 'Start',
      viewport: [1280, 720],
      features: ['auto-fetch', 'runtime-fetch', 'foreign-engine'],
    });
  });

  test('an unknown route, with those that there are', async () => {
    const answer = await tool.get('/nope');
    expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    expect(answer.details.routes).toEqual(
      expect.arrayContaining([
        'GET /health',
        'GET /info',
        'POST /navigate',
        'POST /batch',
        'GET /events',
        'DELETE /console',
        'GET /network/:id',
      ]),
    );
  });

  test('a wrong method, with the right ones', async () => {
    const answer = await tool.get('/click');
    expect(answer).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(answer.headers.get('allow')).toBe('POST');
    expect((await tool.post('/console')).headers.get('allow')).toBe('GET, DELETE');
  });

  test('JSON by any name, and nothing at all', async () => {
    const body = `{"url":"${site.url}/"}`;
    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'text/plain',
      undefined,
    ]) {
      const answer = await send(
        'POST',
        '/navigate',
        type === undefined ? {} : { 'content-type': type },
        body,
      );
      expect(answer.status).toBe(200);
    }
    expect((await send('POST', '/reload')).status).toBe(200);
    expect((await send('POST', '/reload', {}, '{}')).status).toBe(200);
  });

  test('names in camel case, and names that mean nothing', async () => {
    const answer = await tool.post('/navigate', {
      url: 'about:blank',
      waitUntil: 'commit',
      timeoutMs: 60_000,
      color: 'red',
    });
    expect(answer).toMatchObject({ ok: true, data: { ignored_fields: ['color'] } });
  });
});

describe('batches', () => {
  test('operations run one after the other, each with its result', async () => {
    const { data } = await tool.post('/batch', {
      operations: [
        { type: 'navigate', url: `${site.url}/`, name: 'open' },
        { type: 'type', selector: 'input', text: 'Ann' },
        { type: 'click', target: 'button' },
        { type: 'wait', ms: 10 },
        { type: 'wait-for-selector', selector: 'button' },
        { type: 'press', key: 'Tab' },
        { type: 'evaluate', expression: 'document.title' },
        { type: 'dom', selector: 'button' },
        { type: 'a11y', format: 'text' },
        { type: 'scroll', y: 100 },
        { type: 'resize', width: 800, height: 600 },
        { type: 'screenshot' },
        { type: 'navigate', url: 'about:blank' },
        { type: 'back' },
        { type: 'forward' },
      ],
    });
    expect(data).toMatchObject({ completed: 15, failed: 0 });
    expect(data).not.toHaveProperty('stopped_at');
    expect(data.results[0]).toEqual({
      index: 0,
      name: 'open',
      op_type: 'navigate',
      success: true,
      data: expect.objectContaining({ title: 'Start' }),
      duration_ms: expect.any(Number),
    });
    expect(data.results[1]).toMatchObject({ name: 'type', data: { value: 'Ann' } });
    expect(data.results[6]).toMatchObject({ data: { result: 'Ann' } });
    expect(data.results[11].data).toMatchObject({ width: 800, height: 600 });
    await tool.post('/resize', { width: 1280, height: 720 });
  });

  test('the first failure ends it, unless it continues on errors', async () => {
    const operations = [
      { type: 'evaluate', expression: '1' },
      { type: 'click', target: '#nope', timeout_ms: 100 },
      { type: 'evaluate', expression: '2' },
    ];
    const stopped = (await tool.post('/batch', { operations })).data;
    expect(stopped).toMatchObject({ completed: 1, failed: 1, stopped_at: 1 });
    expect(stopped.results).toHaveLength(2);
    expect(stopped.results[1]).toEqual({
      index: 1,
      name: 'click',
      op_type: 'click',
      success: false,
      error: expect.stringContaining('No element matches "#nope"'),
      code: 'ELEMENT_NOT_FOUND',
      duration_ms: expect.any(Number),
    });
    expect((await tool.post('/batch', { operations, stop_on_error: false })).data).toMatchObject({
      completed: 2,
      failed: 1,
    });
  });

  test('an operation of no type that there is fails', async () => {
    const unknown = await tool.post('/batch', { operations: [{ type: 'dance' }] });
    expect(unknown.data.results[0]).toMatchObject({
      success: false,
      code: 'INVALID_ARGUMENT',
      op_type: 'dance',
    });
    const untyped = await tool.post('/batch', { operations: [{}] });
    expect(untyped.data.results[0]).toMatchObject({ op_type: '', code: 'INVALID_ARGUMENT' });
    expect(untyped.data.results[0].error).toMatch(
      /^An operation needs a type\. Use one of navigate, /,
    );
  });

  test('no other call runs in between', async () => {
    await tool.open(`${site.url}/`);
    const operations = [
      { type: 'evaluate', expression: 'window.order = []; fetch("/batch-began"); 0' },
      { type: 'wait', ms: 300 },
      { type: 'evaluate', expression: 'order.push("batch"); order' },
    ];
    const batch = tool.post('/batch', { operations });
    await waitUntil(() => site.requests.includes('/batch-began'));
    const other = tool.post('/evaluate', { expression: 'order.push("other"); order' });
    expect((await batch).data.results[2].data.result).toEqual(['batch']);
    expect((await other).data.result).toEqual(['batch', 'other']);
  });
});

test('the running calls are listed during a long call', async () => {
  await tool.open(`${site.url}/`);
  const slow = tool.post('/batch', {
    operations: [
      { type: 'evaluate', expression: 'fetch("/slow-began"); 0' },
      { type: 'wait', ms: 8_000 },
    ],
  });
  await waitUntil(() => site.requests.includes('/slow-began'));
  let isDone = false;
  void slow.then(() => (isDone = true));
  expect((await tool.get('/info')).data).toMatchObject({
    browser_connected: true,
    url: `${site.url}/`,
  });
  expect((await tool.get('/health')).data.status).toBe('ok');
  expect(isDone).toBe(false);
  await slow;
});

test('a caller that hangs up frees the tool for the next', async () => {
  await tool.open(`${site.url}/`);
  const aborter = new AbortController();
  const left = fetch(`${tool.url}/evaluate`, {
    method: 'POST',
    body: JSON.stringify({
      expression: 'fetch("/call-began"); new Promise(() => undefined)',
      timeout_ms: 600_000,
    }),
    signal: aborter.signal,
  }).catch(() => undefined);
  await waitUntil(() => site.requests.includes('/call-began'));
  aborter.abort();
  await left;
  expect((await tool.post('/evaluate', { expression: 'document.title' })).data.result).toBe(
    'Start',
  );
});
