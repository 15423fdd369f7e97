import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { fullSize } from '@model-gateway/testkit';
import { page, startSite, type Route, type Site } from '../site.ts';
import { testBrowser } from '../test-browser.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

/** A page for the first request, and something else from then on. */
function once(then: (response: ServerResponse) => void): Route {
  let isFirst = true;
  return (_request, response) => {
    response.setHeader('cache-control', 'no-store');
    if (isFirst) response.setHeader('content-type', 'text/html').end(page('Once', 'once'));
    else then(response);
    isFirst = false;
  };
}

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/a': page('A', '<a href="/b">to B</a><a id="hash" href="#part">part</a>'),
    '/b': page('B', 'b'),
    '/moved': (_request, response) => response.writeHead(302, { location: '/b' }).end(),
    '/hops-on': page('Hop', '<script>location.replace("/b")</script>'),
    '/empty': (_request, response) => response.writeHead(204).end(),
    '/file': (_request, response) =>
      response
        .writeHead(200, { 'content-disposition': 'attachment; filename="report.bin"' })
        .end('x'),
    '/once-empty': once((response) => response.writeHead(204).end()),
    '/once-file': once((response) =>
      response.writeHead(200, { 'content-disposition': 'attachment' }).end('x'),
    ),
    '/nothing': (_request, response) => response.writeHead(404).end(),
    '/error': (_request, response) =>
      response.writeHead(500, { 'content-type': 'text/html' }).end('<title>Broken</title>'),
    '/never': () => undefined,
    '/slow-picture': page('Slow picture', '<p>Text</p><img src="/never">'),
    '/slow-script': page('Slow script', '<script src="/never"></script>'),
    '/stay': page(
      'Stay',
      '<button onclick="window.addEventListener(\'beforeunload\', (event) => event.preventDefault())">Arm</button>',
    ),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const navigate = (path: string, more: object = {}) =>
  tool.post('/navigate', { url: `${site.url}${path}`, ...more });

test('a page is opened and described in the response', async () => {
  const answer = await navigate('/a');
  expect(answer).toMatchObject({ status: 200, ok: true });
  expect(answer.data).toEqual({
    url: `${site.url}/a`,
    title: 'A',
    status: 200,
    status_text: 'OK',
    load_state: 'complete',
    redirected: false,
    elapsed_ms: expect.any(Number),
    dialogs: [],
  });
});

test('redirects of the server and of the page are followed and reported', async () => {
  for (const path of ['/moved', '/hops-on']) {
    expect((await navigate(path)).data).toMatchObject({
      url: `${site.url}/b`,
      title: 'B',
      redirected: true,
      status: 200,
    });
  }
});

test('an error page of the server is a page', async () => {
  expect((await navigate('/error')).data).toMatchObject({
    title: 'Broken',
    status: 500,
    status_text: 'Internal Server Error',
  });
});

test('another place on the same page is there at once', async () => {
  await navigate('/a');
  expect((await navigate('/a#part')).data).toMatchObject({
    url: `${site.url}/a#part`,
    load_state: 'complete',
  });
});

test('a page that never finishes loading is returned as interactive after five seconds', async () => {
  const { data } = await navigate('/slow-picture');
  expect(data).toMatchObject({ title: 'Slow picture', load_state: 'interactive' });
  expect(data.elapsed_ms).toBeGreaterThan(4_500);
});

test('a page without a document in time is a time-out, and the tab stays usable', async () => {
  for (const path of ['/slow-script', '/never']) {
    const answer = await navigate(path, { timeout_ms: 500 });
    expect(answer).toMatchObject({ status: 504, code: 'TIMEOUT', details: { timeout_ms: 500 } });
    expect(answer.error).toMatch(/did not load within 500 ms\. /);
    expect((await navigate('/b')).data).toMatchObject({ title: 'B', load_state: 'complete' });
  }
});

test.each([
  { until: 'commit', state: /complete|interactive/ },
  { until: 'domcontentloaded', state: /complete|interactive/ },
  { until: 'load', state: /complete/ },
  { until: 'networkidle', state: /complete/ },
])('it can wait until $until', async ({ until, state }) => {
  expect((await navigate('/a', { wait_until: until })).data.load_state).toMatch(state);
});

test('it can wait for an element besides', async () => {
  expect(await navigate('/a', { wait_for: '#hash' })).toMatchObject({ ok: true });
});

const EMPTY = 'the server responded with 404 Not Found and an empty page';

describe('a navigation that fails', () => {
  test('reports the reason, and the next one works', async () => {
    const refused = await tool.post('/navigate', { url: 'http://127.0.0.1:1/' });
    expect(refused).toMatchObject({
      status: 502,
      code: 'NAVIGATION_FAILED',
      details: { net_error: expect.stringMatching(/^net::ERR_/), url: 'http://127.0.0.1:1/' },
    });
    expect((await navigate('/a')).data).toMatchObject({ title: 'A', status: 200 });
  });

  test('again and again, at once', async () => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    server.unref();
    for (let round = 0; round < fullSize(3, { small: 2 }); round += 1) {
      expect(await tool.post('/navigate', { url: `http://127.0.0.1:${port}/` })).toMatchObject({
        code: 'NAVIGATION_FAILED',
      });
      expect((await navigate('/b')).data).toMatchObject({ title: 'B' });
    }
    server.close();
  });

  test('for a host that does not exist', async () => {
    const answer = await tool.post('/navigate', { url: 'http://no-such-host.invalid/' });
    expect(answer).toMatchObject({ code: 'NAVIGATION_FAILED' });
    expect(answer.error).toMatch(
      /^http:\/\/no-such-host\.invalid\/ could not be opened: .*\(net::ERR_[A-Z_]+\)\. /,
    );
  });

  test('because the answer is empty', async () => {
    await navigate('/a');
    const answer = await navigate('/empty');
    expect(answer).toMatchObject({
      code: 'NAVIGATION_FAILED',
      details: { net_error: 'net::ERR_ABORTED', status: 204 },
    });
    expect((await tool.get('/info')).data.url).toBe(`${site.url}/a`);
  });

  // The headless shell shows the empty page, Chromium an error page of its own.
  test('because an error of the server comes without a page', async () => {
    const answer = await navigate('/nothing');
    const failure = {
      code: 'NAVIGATION_FAILED',
      details: { status: 404 },
      error: expect.stringContaining(EMPTY),
    };
    const empty = { ok: true, data: { status: 404, status_text: 'Not Found' } };
    expect(answer).toMatchObject('CHROMIUM_PATH' in testBrowser() ? empty : failure);
    expect((await navigate('/a')).data.title).toBe('A');
  });

  test('because it is a download, which is denied', async () => {
    const answer = await navigate('/file');
    expect(answer).toMatchObject({ code: 'NAVIGATION_FAILED' });
    expect(answer.error).toContain('it is a download, and downloads are denied');
    expect((await navigate('/a')).data.title).toBe('A');
  });

  test('because the page was not to be left', async () => {
    await navigate('/stay');
    await tool.post('/click', { target: 'text=Arm' });
    const kept = await navigate('/b', { dialog: 'dismiss' });
    expect(kept).toMatchObject({ code: 'NAVIGATION_FAILED' });
    expect(kept.error).toContain('was dismissed');
    expect(kept.details.dialogs).toEqual([
      { type: 'beforeunload', message: '', action: 'dismissed' },
    ]);
    const left = await navigate('/b');
    expect(left.data).toMatchObject({
      title: 'B',
      dialogs: [{ type: 'beforeunload', message: '', action: 'accepted' }],
    });
  });
});

describe('history', () => {
  test('back and forward answer as navigate does', async () => {
    await navigate('/a');
    await navigate('/b');
    expect((await tool.post('/back')).data).toMatchObject({
      url: `${site.url}/a`,
      title: 'A',
      load_state: 'complete',
      dialogs: [],
    });
    expect((await tool.post('/forward')).data).toMatchObject({ url: `${site.url}/b`, title: 'B' });
    expect((await tool.post('/reload')).data).toMatchObject({
      url: `${site.url}/b`,
      title: 'B',
      status: 200,
    });
  });

  test('within a page too', async () => {
    await navigate('/a');
    await navigate('/a#part');
    expect((await tool.post('/back')).data).toMatchObject({ url: `${site.url}/a` });
  });

  test('a page that was not to be left is not left, and the response reports it at once', async () => {
    await navigate('/a');
    await navigate('/stay');
    await tool.post('/click', { target: 'text=Arm' });
    for (const path of ['/back', '/reload']) {
      const kept = await tool.post(path, { dialog: 'dismiss', timeout_ms: 600_000 });
      expect(kept).toMatchObject({
        status: 502,
        code: 'NAVIGATION_FAILED',
        error: expect.stringContaining('the dialog about leaving the page was dismissed'),
      });
    }
    expect((await tool.post('/back')).data).toMatchObject({
      title: 'A',
      dialogs: [{ type: 'beforeunload', action: 'accepted' }],
    });
  });

  test.each([
    { path: '/once-empty', why: 'responded with status 204, which has no page' },
    { path: '/once-file', why: 'it is a download, and downloads are denied' },
  ])('without a page at $path any more, the response reports it at once', async ({ path, why }) => {
    await navigate(path);
    await navigate('/b');
    expect(await tool.post('/back', { timeout_ms: 600_000 })).toMatchObject({
      code: 'NAVIGATION_FAILED',
      error: expect.stringContaining(why),
    });
    expect((await navigate('/a')).data.title).toBe('A');
  });

  test('without one, the response reports it', async () => {
    await navigate('/a?last');
    const answer = await tool.post('/forward');
    expect(answer).toMatchObject({ status: 409, code: 'NO_HISTORY' });
    expect(answer.error).toBe(
      `There is no page to go forward to from ${site.url}/a?last. Navigate to an address instead.`,
    );
  });
});

describe('addresses', () => {
  test.each([
    { url: 'file:///etc/passwd', code: 'URL_BLOCKED', status: 403 },
    { url: 'chrome://settings', code: 'URL_BLOCKED', status: 403 },
    { url: 'devtools://devtools/x', code: 'URL_BLOCKED', status: 403 },
    { url: 'view-source:http://example.com', code: 'URL_BLOCKED', status: 403 },
    { url: 'javascript:alert(1)', code: 'URL_BLOCKED', status: 403 },
    { url: 'JAVASCRIPT:1', code: 'URL_BLOCKED', status: 403 },
    { url: 'about:version', code: 'URL_BLOCKED', status: 403 },
    { url: 'http://', code: 'INVALID_URL', status: 400 },
    { url: 'not a url', code: 'INVALID_URL', status: 400 },
    { url: '/login', code: 'INVALID_URL', status: 400 },
    { url: '../up', code: 'INVALID_URL', status: 400 },
    { url: '?page=2', code: 'INVALID_URL', status: 400 },
  ])('$url is refused', async ({ url, code, status }) => {
    expect(await tool.post('/navigate', { url })).toMatchObject({ ok: false, code, status });
  });

  test('about:blank, data: and a bare host with a port are opened', async () => {
    expect((await tool.post('/navigate', { url: 'about:blank' })).data).toMatchObject({
      url: 'about:blank',
      status: null,
    });
    expect(
      (await tool.post('/navigate', { url: 'data:text/html,<title>D</title>' })).data.title,
    ).toBe('D');
    expect((await tool.post('/navigate', { url: `localhost:${site.port}/a` })).data.url).toBe(
      `${site.otherUrl}/a`,
    );
  });

  test('a page cannot open what a caller may not', async () => {
    await navigate('/a');
    await tool.post('/evaluate', { expression: 'location.href = "file:///etc/passwd"; 0' });
    expect((await tool.get('/info')).data.url).toBe(`${site.url}/a`);
  });
});
