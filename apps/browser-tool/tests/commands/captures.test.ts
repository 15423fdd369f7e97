import { createServer } from 'node:http';
import { fullSize, waitUntil } from '@model-gateway/testkit';
import { createParser } from 'eventsource-parser';
import { WebSocketServer } from 'ws';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** How many messages a page writes that floods the console. */
const FLOOD = fullSize(30_000, { small: 10_000 });

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/': page('Start', '<p>Start</p>'),
    '/json': (request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'set-cookie': 'id=secret',
        'x-plain': 'shown',
      });
      response.end(JSON.stringify({ hello: request.method }));
    },
    '/picture.png': (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.from(PIXEL, 'base64')),
    '/worker.js': (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end('console.log("from the worker")'),
    '/failing-worker.js': (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(
          'console.error("once"); setTimeout(() => console.log("end"), 200); throw new Error("thrown in a worker")',
        ),
    '/hop': (_request, response) => response.writeHead(302, { location: '/json' }).end(),
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const textsOf = (entries: readonly { readonly text: string }[]) => entries.map(({ text }) => text);
const run = (expression: string) => tool.post('/evaluate', { expression });

describe('the console', () => {
  beforeEach(() => tool.open(`${site.url}/`));

  test('what the page writes is kept with where and how often', async () => {
    await run('console.error("broken", { a: 1 }, [1, 2], null)');
    await run('for (let i = 0; i < 3; i++) console.log("same")');
    const { data } = await tool.get('/console');
    expect(data.entries).toEqual([
      {
        seq: expect.any(Number),
        level: 'error',
        text: 'broken {a: 1} [1, 2] null',
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        source: 'console',
        url: `${site.url}/`,
        line: 1,
        column: expect.any(Number),
        count: 1,
        stack: expect.any(String),
      },
      expect.objectContaining({ level: 'info', text: 'same', count: 3 }),
    ]);
    expect(data).toMatchObject({ next: data.entries[1].seq, dropped: 0 });
  });

  test('placeholders are filled in, and whatever is thrown is shown', async () => {
    await run(
      'console.log("%cRead %s of %d, 100%%", "color: red", "two", 5, "more"); console.log("50%")',
    );
    await run('Promise.reject({ why: "no reason" }); 0');
    await waitUntil(async () => (await tool.get('/console')).data.entries.length === 3);
    const { entries } = (await tool.get('/console')).data;
    expect(textsOf(entries)).toEqual(['Read two of 5, 100% more', '50%', '{why: "no reason"}']);
    expect(entries[2]).toMatchObject({ source: 'exception', url: `${site.url}/` });
  });

  test('levels are minimum levels, and since continues after the last read entry', async () => {
    await run('console.debug("d"); console.info("i"); console.warn("w"); console.error("e")');
    const levels = async (query: string) =>
      textsOf((await tool.get(`/console?${query}`)).data.entries);
    expect(await levels('level=warning')).toEqual(['w', 'e']);
    expect(await levels('level=error,warning')).toEqual(['w', 'e']);
    expect(await levels('min_level=error')).toEqual(['e']);
    expect(await levels('limit=2')).toEqual(['w', 'e']);
    const { next } = (await tool.get('/console?level=error')).data;
    await run('console.log("new")');
    expect(await levels(`since=${next}`)).toEqual(['new']);
  });

  test('errors, rejections, workers and the network each have their source', async () => {
    await run(
      'setTimeout(() => { throw new TypeError("thrown") }); Promise.reject(new Error("rejected")); fetch("/missing"); new Worker("/worker.js"); 0',
    );
    await waitUntil(async () => (await tool.get('/console')).data.entries.length >= 4);
    const { entries } = (await tool.get('/console')).data as {
      entries: { source: string; text: string }[];
    };
    const bySource = Object.fromEntries(
      entries.map((entry) => [
        entry.source + (entry.text.includes('rejected') ? '!' : ''),
        entry.text,
      ]),
    );
    expect(bySource).toMatchObject({
      exception: 'TypeError: thrown',
      'exception!': 'Error: rejected',
      worker: 'from the worker',
      network: expect.stringContaining('404'),
    });
    expect((await tool.get('/console?source=worker')).data.entries).toHaveLength(1);
    const { errors, unhandled_rejections: rejections } = (await tool.get('/errors')).data;
    expect(textsOf(errors)).toContain('TypeError: thrown');
    expect(textsOf(rejections)).toContain('Error: rejected');
  });

  test('a new page starts an empty list, all includes earlier entries, and clearing clears', async () => {
    await run('console.log("before")');
    await tool.open(`${site.url}/`);
    expect((await tool.get('/console')).data.entries).toEqual([]);
    const { entries } = (await tool.get('/console?all=true')).data;
    expect(textsOf(entries).at(-1)).toBe('before');
    expect((await tool.delete('/console')).data.cleared).toBeGreaterThanOrEqual(1);
    expect((await tool.get('/console?all=true')).data.entries).toEqual([]);
  });

  test('many messages at once cost the oldest, and those are counted', async () => {
    await tool.delete('/console');
    await run('for (let i = 0; i < 5_000; i++) console.log("many " + i); console.error("LAST")');
    const { data } = await tool.get('/console?limit=1000');
    expect(data.entries).toHaveLength(1_000);
    expect(data.entries[999].text).toBe('LAST');
    expect(data.dropped).toBe(4_001);
    const { entries } = (await tool.get('/console?level=error')).data;
    expect(textsOf(entries)).toEqual(['LAST']);
  });

  test('of a flood that ends, the last messages are kept and the rest is counted', async () => {
    await tool.delete('/console');
    await run(`let written = 0; const timer = setInterval(() => {
      for (let i = 0; i < 100; i++) console.log("flood " + written++);
      if (written < ${FLOOD}) return;
      clearInterval(timer);
      console.error("THE END");
      setTimeout(() => { throw new Error("after it") });
    }, 1); 0`);
    const last = async () =>
      (await tool.get('/console?limit=2')).data as { entries: { text: string }[]; dropped: number };
    await waitUntil(async () => (await last()).entries[1]?.text === 'Error: after it');
    const { entries, dropped } = await last();
    expect(textsOf(entries)).toEqual(['THE END', 'Error: after it']);
    // How many of them the tool got depends on how fast they were written.
    expect(dropped).toBeGreaterThan(0);
    expect(dropped).toBeLessThan(FLOOD);
    const thrown = (await tool.get('/errors')).data.errors as { text: string; count: number }[];
    expect(thrown.filter(({ text }) => text === 'Error: after it')).toMatchObject([{ count: 1 }]);
  });

  test('output and errors of a worker are reported once', async () => {
    await run('new Worker("/failing-worker.js"); 0');
    const entries = async () => (await tool.get('/console')).data.entries as { text: string }[];
    await waitUntil(async () => textsOf(await entries()).includes('end'));
    expect(await entries()).toMatchObject([
      { level: 'error', text: 'once', source: 'worker', count: 1 },
      { level: 'error', text: 'Error: thrown in a worker', source: 'exception', count: 1 },
      { level: 'info', text: 'end', source: 'worker', count: 1 },
    ]);
  });

  test('a page that floods it costs the oldest entries and nothing else', async () => {
    await tool.delete('/console');
    await run(
      'let n = 0; window.flood = setInterval(() => { for (let i = 0; i < 200; i++) console.log("flood " + n++) }, 1); 0',
    );
    await waitUntil(async () => (await tool.get('/console')).data.dropped > 0);
    expect(await tool.get('/a11y?format=text')).toMatchObject({ ok: true });
    expect((await run('document.title')).data.result).toBe('Start');
    const { data } = await tool.get('/console?limit=1000');
    expect(data.entries).toHaveLength(1_000);
    expect(await tool.open(`${site.url}/`)).toMatchObject({ ok: true });
    await waitUntil(async () => (await tool.get('/console')).data.entries.length === 0);
  });
});

describe('the network', () => {
  beforeEach(async () => {
    await tool.open(`${site.url}/`);
    await tool.delete('/network');
  });

  const resources = async (query = '') =>
    (await tool.get(`/network?${query}`)).data.resources as Record<string, unknown>[];

  test('requests are kept with how they went', async () => {
    await run(
      'await fetch("/json", { method: "POST", body: "hi", headers: { authorization: "Bearer x" } }).then((r) => r.text())',
    );
    await waitUntil(async () => (await resources()).every(({ duration }) => duration !== null));
    const [entry] = await resources('url=/json');
    expect(entry).toEqual({
      seq: expect.any(Number),
      id: expect.any(String),
      name: 'json',
      url: `${site.url}/json`,
      method: 'POST',
      type: 'fetch',
      status: 200,
      duration: expect.any(Number),
      size: expect.any(Number),
      started_at: expect.stringMatching(/^\d{4}-/),
      from_cache: false,
      failed: null,
      initiator: expect.stringContaining('script'),
    });
  });

  test('one of them in full, without secrets unless requested', async () => {
    await run(
      'await fetch("/json", { method: "POST", body: "hi", headers: { authorization: "Bearer x", "x-api-key": "k" } }).then((r) => r.text())',
    );
    const { id } = (await resources('type=fetch'))[0] as { id: string };
    const read = () => tool.get(`/network/${id}?body=true`);
    // The browser reports cookies in a message of its own, which can come later.
    await waitUntil(async () => 'set-cookie' in (await read()).data.response_headers);
    const { data } = await read();
    expect(data).toMatchObject({
      post_data: 'hi',
      body: '{"hello":"POST"}',
      body_base64: null,
      truncated: false,
    });
    expect(data.request_headers).toMatchObject({
      authorization: '[redacted]',
      'x-api-key': '[redacted]',
    });
    expect(data.response_headers).toMatchObject({ 'set-cookie': '[redacted]', 'x-plain': 'shown' });
    const raw = (await tool.get(`/network/${id}?raw=1&body=true&max_bytes=5`)).data;
    expect(raw.request_headers.authorization).toBe('Bearer x');
    expect(raw).toMatchObject({ body: '{"hel', truncated: true });
    expect(await tool.get('/network/nope')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });

  test('filters, failures, redirects and pictures', async () => {
    await run(`await Promise.allSettled(['/missing', 'http://127.0.0.1:1/', '/hop'].map((url) => fetch(url).then((r) => r.text())));
      await new Promise((resolve) => { const i = new Image(); i.onload = resolve; i.src = '/picture.png' })`);
    expect(await resources('status=4xx')).toMatchObject([{ name: 'missing', status: 404 }]);
    expect(await resources('failed=true')).toMatchObject([
      { failed: expect.stringMatching(/^net::ERR_/), status: null },
    ]);
    expect(await resources('status=302,200&type=fetch')).toMatchObject([
      { name: 'hop', status: 302 },
      { name: 'json', status: 200 },
    ]);
    const [picture] = (await resources('url=picture')) as { id: string }[];
    expect((await tool.get(`/network/${picture?.id}?body=true`)).data).toMatchObject({
      body: null,
      body_base64: PIXEL,
    });
    expect(await resources('method=post')).toEqual([]);
    const { data } = await tool.delete('/network');
    expect(data.cleared).toBeGreaterThanOrEqual(4);
  });
});

test('WebSockets are kept with their frames', async () => {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) =>
    socket.on('message', (data, isBinary) =>
      socket.send(isBinary ? data : Buffer.concat([Buffer.from('echo '), data as Buffer]), {
        binary: isBinary,
      }),
    ),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as { port: number };
  await tool.open(`${site.url}/`);
  await tool.delete('/websocket');
  await run(`const s = new WebSocket('ws://127.0.0.1:${port}/'); window.s = s; await new Promise((resolve) => {
    s.onopen = () => { s.send('hi'); s.send(new Uint8Array([1, 2])); };
    let got = 0; s.onmessage = () => { if (++got === 2) resolve() } })`);
  const { data } = await tool.get('/websocket');
  expect(data).toMatchObject({
    active_count: 1,
    connections: [
      {
        url: `ws://127.0.0.1:${port}/`,
        state: 'open',
        frames_sent: 2,
        frames_received: 2,
        closed_at_ms: null,
      },
    ],
  });
  const { id } = data.connections[0] as { id: string };
  const { frames, next } = (await tool.get(`/websocket/${id}`)).data;
  expect(frames).toMatchObject([
    { direction: 'sent', opcode: 1, text: 'hi', size: 2, truncated: false },
    { direction: 'sent', opcode: 2, base64: 'AQI=', size: 2 },
    { direction: 'received', opcode: 1, text: 'echo hi' },
    { direction: 'received', opcode: 2, base64: 'AQI=' },
  ]);
  expect((await tool.get(`/websocket/${id}?since=${next}`)).data.frames).toEqual([]);
  await run('s.send("x".repeat(100_000)); s.close(); 0');
  await waitUntil(async () => (await tool.get('/websocket')).data.active_count === 0);
  const big = (await tool.get(`/websocket/${id}?since=${next}`)).data.frames[0];
  expect(big).toMatchObject({ size: 100_000, truncated: true });
  expect(big.text).toHaveLength(65_536);
  expect(await tool.get('/websocket/nope')).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect((await tool.delete('/websocket')).data).toEqual({ cleared: 1 });
  await new Promise((resolve) => sockets.close(() => server.close(resolve)));
});

test('events are sent as they happen', async () => {
  await tool.open(`${site.url}/`);
  const aborter = new AbortController();
  const response = await fetch(`${tool.url}/events`, { signal: aborter.signal });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const seen: { event: string | undefined; data: Record<string, unknown> }[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => seen.push({ event, data: JSON.parse(data) }),
  });
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      parser.feed(decoder.decode(chunk, { stream: true }));
  })().catch(() => undefined);
  await run('console.log("told"); alert("hey"); await fetch("/json").then((r) => r.text()); 0');
  await tool.open(`${site.url}/?again`);
  const has = (event: string, part: object) => () =>
    seen.some(
      (each) =>
        each.event === event &&
        Object.entries(part).every(([key, value]) => each.data[key] === value),
    );
  await waitUntil(has('console', { text: 'told' }));
  await waitUntil(has('dialog', { type: 'alert', message: 'hey', action: 'accepted' }));
  await waitUntil(has('network', { name: 'json', status: 200 }));
  await waitUntil(has('navigation', { url: `${site.url}/?again` }));
  aborter.abort();
  await reading;
});
