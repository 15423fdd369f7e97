import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@model-gateway/testkit';
import { WebSocketServer } from 'ws';
import { page, startSite, type Site } from '../site.ts';
import { startTool, type ToolUnderTest } from '../tool.ts';

const POST_BYTES_MAX = 64 * 1024;

let site: Site;
let tool: ToolUnderTest;

beforeAll(async () => {
  site = await startSite({
    '/': page('Start', '<iframe src="/frame"></iframe>'),
    '/frame': page('Frame', ''),
    '/next': page('Next', '<p>next</p>'),
    '/worker.js': (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end('onmessage = ({ data }) => { globalThis.socket = new WebSocket(data) }'),
    '/taken': (request, response) => {
      request.resume();
      request.once('end', () => response.end('taken'));
    },
    '/sent': (request, response) => {
      request.resume();
      request.once('end', () =>
        response.writeHead(200, { 'content-type': 'text/html' }).end(page('Sent', '')),
      );
    },
  });
  tool = await startTool();
});

afterAll(async () => {
  await tool.close();
  await site.close();
});

const run = (expression: string) => tool.post('/evaluate', { expression });

interface ListedSocket {
  readonly id: string;
  readonly state: string;
  readonly closed_at_ms: number | null;
}

describe('WebSockets', () => {
  let server: WebSocketServer;
  let url: string;

  beforeAll(async () => {
    const http = createServer();
    server = new WebSocketServer({ server: http });
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    url = `ws://127.0.0.1:${(http.address() as AddressInfo).port}/`;
    server.once('close', () => http.close());
  });
  afterAll(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  beforeEach(async () => {
    await tool.open(`${site.url}/`);
    await tool.delete('/websocket');
  });

  const listed = async () =>
    (await tool.get('/websocket')).data as { active_count: number; connections: ListedSocket[] };

  test.each([
    { where: 'a page', open: (to: string) => `globalThis.socket = new WebSocket('${to}'); 0` },
    {
      where: 'a frame',
      open: (to: string) => `frames[0].socket = new frames[0].WebSocket('${to}'); 0`,
    },
    {
      where: 'a worker',
      open: (to: string) =>
        `globalThis.worker = new Worker('/worker.js'); worker.postMessage('${to}')`,
    },
  ])('of $where that went are closed with it', async ({ open }) => {
    await run(open(url));
    await waitUntil(async () => (await listed()).connections[0]?.state === 'open');
    expect((await listed()).active_count).toBe(1);
    const events: object[] = [];
    const stop = tool.tool.session.captures.events.listen((kind, data) => {
      if (kind === 'websocket') events.push(data);
    });
    await tool.open(`${site.url}/next`);
    await waitUntil(async () => (await listed()).active_count === 0);
    stop();
    const { connections } = await listed();
    expect(connections).toEqual([
      expect.objectContaining({ state: 'closed', closed_at_ms: expect.any(Number) }),
    ]);
    expect(events).toEqual([
      expect.objectContaining({ event: 'closed', id: connections[0]?.id, state: 'closed' }),
    ]);
  });

  test('frames are read from the first on, or the newest of them', async () => {
    await run(
      `new Promise((resolve) => {
         const socket = new WebSocket('${url}');
         socket.onopen = () => { for (const n of [1, 2, 3, 4, 5]) socket.send(String(n)); resolve(0); };
       })`,
    );
    const [{ id } = { id: '' }] = (await listed()).connections;
    const texts = async (query: string) => {
      const { data } = await tool.get(`/websocket/${id}?${query}`);
      const frames = data.frames as readonly { text: string; seq: number }[];
      return { next: data.next as number, texts: frames.map(({ text }) => text) };
    };
    await waitUntil(async () => (await texts('')).texts.length === 5);
    const first = await texts('since=0&limit=2');
    expect(first.texts).toEqual(['1', '2']);
    expect((await texts(`since=${first.next}&limit=2`)).texts).toEqual(['3', '4']);
    expect((await texts('limit=2')).texts).toEqual(['4', '5']);
  });
});

test('messages and requests are read from the first on, or the newest of them', async () => {
  await tool.open(`${site.url}/next`);
  await tool.delete('/console');
  await run('for (const n of [1, 2, 3, 4, 5]) console.log(n)');
  const messages = async (query: string) => {
    const { data } = await tool.get(`/console?${query}`);
    const entries = data.entries as readonly { text: string; seq: number }[];
    expect(data.next).toBe(entries.at(-1)?.seq);
    return { next: data.next as number, texts: entries.map(({ text }) => text) };
  };
  const first = await messages('since=0&limit=2');
  expect(first.texts).toEqual(['1', '2']);
  expect((await messages(`since=${first.next}&limit=2`)).texts).toEqual(['3', '4']);
  expect((await messages('limit=2')).texts).toEqual(['4', '5']);

  await tool.delete('/network');
  await run('(async () => { for (const n of [1, 2, 3]) await fetch(`/taken?${n}`) })()');
  const urls = async (query: string) => {
    const { data } = await tool.get(`/network?${query}`);
    return (data.resources as readonly { url: string }[]).map((each) => each.url.split('?')[1]);
  };
  expect(await urls('since=0&limit=2')).toEqual(['1', '2']);
  expect(await urls('limit=2')).toEqual(['2', '3']);
});

describe('what a request sent', () => {
  const entry = async (url: string) => {
    const { data } = await tool.get(`/network?url=${encodeURIComponent(url)}`);
    const id = (data.resources as readonly { id: string }[]).at(-1)?.id ?? '';
    return (await tool.get(`/network/${id}`)).data as { post_data: string; truncated: boolean };
  };
  beforeEach(() => tool.open(`${site.url}/next`));

  test('is whole up to 64 KiB, and the first of it beyond', async () => {
    await run(
      `fetch('/taken?small', { method: 'POST', body: 'é'.repeat(1000) }).then((r) => r.text())`,
    );
    expect(await entry('taken?small')).toMatchObject({
      post_data: 'é'.repeat(1000),
      truncated: false,
    });
    await run(
      `fetch('/taken?large', { method: 'POST', body: 'x'.repeat(200000) }).then((r) => r.text())`,
    );
    const large = await entry('taken?large');
    expect(large.post_data).toBe('x'.repeat(POST_BYTES_MAX));
    expect(large.truncated).toBe(true);
  });

  test('is there for a form that led to another page', async () => {
    await run(
      `document.body.innerHTML = '<form method=post action="/sent?form"><textarea name=t></textarea><button>Send</button></form>';
       document.querySelector('textarea').value = 'y'.repeat(200000); 0`,
    );
    await tool.post('/click', { target: 'button' });
    const sent = await entry('sent?form');
    expect(sent.truncated).toBe(true);
    expect(sent.post_data).toBe(`t=${'y'.repeat(POST_BYTES_MAX - 2)}`);
  });

  test('of several parts is what the browser reports', async () => {
    await run(
      `(() => {
         const form = new FormData();
         form.append('a', 'plain');
         form.append('file', new Blob(['in the file']), 'f.txt');
         return fetch('/taken?parts', { method: 'POST', body: form }).then((r) => r.text());
       })()`,
    );
    expect((await entry('taken?parts')).post_data).toContain('name="a"\r\n\r\nplain');
  });
});

test('a response is still read after its page opened a tab', async () => {
  await tool.open(`${site.url}/next`);
  const { resources } = (await tool.get('/network?type=document&limit=1')).data as {
    resources: readonly { id: string }[];
  };
  expect((await run('open("/frame"); 0')).ok).toBe(true);
  // The new tab is there before its document.
  await waitUntil(async () => (await run('document.title')).data.result === 'Frame');
  const { data } = await tool.get(`/network/${resources[0]?.id}?body=true`);
  expect(data.body).toContain('<p>next</p>');
});

test("what the browser's own error page is made of is not the page's", async () => {
  await tool.delete('/network');
  const failed = await tool.post('/navigate', { url: 'http://127.0.0.1:1/' });
  expect(failed.code).toBe('NAVIGATION_FAILED');
  const { data } = await tool.get('/network');
  expect((data.resources as readonly { url: string }[]).map(({ url }) => url)).toEqual([
    'http://127.0.0.1:1/',
  ]);
});

test('what the page of a browser that died wrote is not of the page after it', async () => {
  await tool.open(`${site.url}/next`);
  await run('console.error("of the dead")');
  const { browser_pid: pid } = (await tool.get('/info')).data as { browser_pid: number };
  process.kill(pid, 'SIGKILL');
  await waitUntil(async () => (await tool.get('/info')).data.browser_connected === false);
  expect((await run('1')).data).toMatchObject({ result: 1, restarted: true });
  expect((await tool.get('/console')).data.entries).toEqual([]);
  const { data } = await tool.get('/console?all=true&level=error');
  expect(data.entries).toContainEqual(expect.objectContaining({ text: 'of the dead' }));
});
