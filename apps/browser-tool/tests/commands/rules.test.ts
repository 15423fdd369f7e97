import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@model-gateway/testkit';
import { page, startSite, type Site } from '../site.ts';
import { testBrowser } from '../test-browser.ts';
import { startTool } from '../tool.ts';

type StartOptions = NonNullable<Parameters<typeof startTool>[0]>;

let site: Site;

beforeAll(async () => {
  site = await startSite({
    '/': page('Start', '<p>Start</p>'),
    '/worker.js': (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'text/javascript' })
        .end(`fetch('${site.otherUrl}/reached').catch(() => fetch('/tried'))`),
    '/leave': (_request, response) =>
      response.writeHead(302, { location: `http://localhost:${site.port}/` }).end(),
  });
});

afterAll(() => site.close());

test('only allowed origins are talked to: by callers, by redirects and by pages', async () => {
  const tool = await startTool({
    env: { BROWSER_ALLOWED_ORIGINS: `http://127.0.0.1:${site.port}, https://example.com` },
  });
  try {
    expect((await tool.open(`${site.url}/`)).data.title).toBe('Start');
    expect(await tool.post('/navigate', { url: `${site.otherUrl}/` })).toMatchObject({
      status: 403,
      code: 'URL_BLOCKED',
    });
    const left = await tool.post('/navigate', { url: `${site.url}/leave` });
    expect(left).toMatchObject({
      status: 403,
      code: 'URL_BLOCKED',
      hint: `Add ${site.otherUrl} to BROWSER_ALLOWED_ORIGINS.`,
      details: { url: `${site.url}/leave`, redirected_to: `${site.otherUrl}/` },
    });
    expect(left.error).toContain(`${site.url}/leave redirects to ${site.otherUrl}/, which is not`);
    await tool.open(`${site.url}/`);
    const { data } = await tool.post('/evaluate', {
      function: '(url) => fetch(url).then(() => "answered", () => "blocked")',
      args: [`${site.otherUrl}/`],
    });
    expect(data.result).toBe('blocked');
    const [blocked] = (await tool.get('/network?failed=true&type=fetch')).data.resources;
    expect(blocked.failed).toBe('net::ERR_BLOCKED_BY_CLIENT');
    // Shared workers belong to no page, and their requests pass no page's rules.
    await tool.post('/evaluate', { expression: 'new SharedWorker("/worker.js"); 0' });
    await waitUntil(() => site.requests.includes('/tried'));
    expect(site.requests).not.toContain('/reached');
  } finally {
    await tool.close();
  }
});

test('other ports of an allowed host are not talked to either, by whatever a page has', async () => {
  const outside = await startSite({});
  const tool = await startTool({ env: { BROWSER_ALLOWED_ORIGINS: site.url } });
  try {
    await tool.open(`${site.url}/`);
    const reach = `(socket, url, worker) => Promise.all([
      new Promise((resolve) => { new WebSocket(socket).onerror = () => resolve('blocked'); }),
      new Promise((resolve) => {
        const shared = new SharedWorker('data:text/javascript,' + encodeURIComponent(worker));
        shared.port.onmessage = ({ data }) => resolve(data);
      }),
      fetch(url).then(() => 'answered', () => 'blocked'),
    ])`;
    const worker = `onconnect = ({ ports: [port] }) =>
      fetch(${JSON.stringify(outside.url)}, { mode: 'no-cors' })
        .then(() => port.postMessage('answered'), () => port.postMessage('blocked'));`;
    const args = [outside.url.replace('http', 'ws'), outside.url, worker];
    const { data } = await tool.post('/evaluate', { function: reach, args });
    expect(data.result).toEqual(['blocked', 'blocked', 'blocked']);
    expect(outside.requests).toEqual([]);
  } finally {
    await tool.close();
    await outside.close();
  }
});

const CHROMIUM = '/usr/bin/chromium';
const withAllowed = (): StartOptions => ({ env: { BROWSER_ALLOWED_ORIGINS: site.url } });
const withProxy = (): StartOptions => ({ proxy: site.url });

test.each([
  { rule: 'allowed origins', options: withAllowed, browser: testBrowser() },
  { rule: 'a proxy', options: withProxy, browser: testBrowser() },
  ...(existsSync(CHROMIUM)
    ? [{ rule: 'allowed origins', options: withAllowed, browser: { CHROMIUM_PATH: CHROMIUM } }]
    : []),
])('WebRTC does not get past $rule in $browser', async ({ options, browser }) => {
  const received: Buffer[] = [];
  const outside = createSocket('udp4', (message) => received.push(message));
  await new Promise<void>((resolve) => outside.bind(0, '127.0.0.1', resolve));
  const { env, ...rest } = options();
  const tool = await startTool({ ...rest, env: { ...env, ...browser } });
  const gather = `(port) => new Promise((resolve) => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:' + port }] });
    peer.onicegatheringstatechange = () => peer.iceGatheringState === 'complete' && resolve(1);
    peer.createDataChannel('x');
    void peer.setLocalDescription();
  })`;
  try {
    const args = [outside.address().port];
    expect((await tool.post('/evaluate', { function: gather, args })).data).toMatchObject({
      result: 1,
    });
    expect(received).toEqual([]);
  } finally {
    await tool.close();
    outside.close();
  }
});

test('files are opened where that is allowed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'browser-tool-test-'));
  await writeFile(join(folder, 'page.html'), '<title>From a file</title>');
  const tool = await startTool({ env: { BROWSER_ALLOW_FILE: '1', BROWSER_URL: `${site.url}/` } });
  try {
    expect((await tool.open('about:blank')).data.url).toBe('about:blank');
    expect((await tool.post('/back')).data.title).toBe('Start');
    expect((await tool.open(`file://${folder}/page.html`)).data.title).toBe('From a file');
  } finally {
    await tool.close();
    await rm(folder, { recursive: true });
  }
});

test('pages go through the proxy, loopback too, with its password', async () => {
  const asked: string[] = [];
  const proxy: Server = createServer((request, response) => {
    if (
      request.headers['proxy-authorization'] !==
      `Basic ${Buffer.from('ann:s:cret').toString('base64')}`
    ) {
      response.writeHead(407, { 'proxy-authenticate': 'Basic realm="proxy"' }).end();
      return;
    }
    asked.push(request.url ?? '');
    const forwarded = httpRequest(request.url ?? '', { method: request.method }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  proxy.on('connect', (request, socket) => {
    asked.push(`https://${request.url}`);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as { port: number };
  const tool = await startTool({ proxy: `http://ann:s%3Acret@127.0.0.1:${port}` });
  try {
    expect((await tool.open(`${site.url}/`)).data).toMatchObject({ title: 'Start', status: 200 });
    expect(asked).toContain(`${site.url}/`);
    expect((await tool.get('/info')).data.proxy).toBe(`http://127.0.0.1:${port}/`);
    const wrong = await startTool({ proxy: `http://ann:wrong@127.0.0.1:${port}` });
    const answer = await wrong.post('/navigate', { url: `${site.url}/` });
    await wrong.close();
    expect(answer).toMatchObject({ code: 'NAVIGATION_FAILED' });
    expect(answer.error).toContain('the proxy refused the credentials');
    // The browser itself sends no requests.
    expect(asked.filter((url) => new URL(url).host !== `127.0.0.1:${site.port}`)).toEqual([]);
  } finally {
    await tool.close();
    proxy.closeAllConnections();
    proxy.close();
  }
});

test('a missing browser is reported, and the server keeps running', async () => {
  const tool = await startTool({ env: { CHROMIUM_PATH: '/no/such/chromium' } });
  try {
    const answer = await tool.post('/navigate', { url: 'about:blank' });
    expect(answer).toMatchObject({ status: 503, code: 'BROWSER_NOT_FOUND' });
    expect(answer.error).toContain('CHROMIUM_PATH');
    expect((await tool.get('/health')).data).toMatchObject({ status: 'degraded' });
    expect((await tool.get('/info')).data).toMatchObject({
      browser_connected: false,
      browser_version: null,
      url: null,
      browser_error: { code: 'BROWSER_NOT_FOUND' },
    });
    expect((await tool.get('/console')).data.entries).toEqual([]);
  } finally {
    await tool.close();
  }
});

test('a first page that may not be opened is reported', async () => {
  const tool = await startTool({ env: { BROWSER_URL: 'file:///etc/hostname' } });
  try {
    const answer = await tool.post('/navigate', { url: 'about:blank' });
    expect(answer).toMatchObject({ status: 403, code: 'URL_BLOCKED' });
    expect(answer.error).toMatch(/^BROWSER_URL cannot be the first page: file: URLs are not/);
  } finally {
    await tool.close();
  }
});

test('a browser without its sandbox is not started where the sandbox is required', async () => {
  // As root Chromium has no sandbox.
  if (process.getuid?.() !== 0) return;
  const tool = await startTool({ env: { BROWSER_SANDBOX: 'required' } });
  try {
    const answer = await tool.post('/navigate', { url: 'about:blank' });
    expect(answer).toMatchObject({ status: 503, code: 'BROWSER_LAUNCH_FAILED' });
    expect(answer.error).toContain('BROWSER_SANDBOX=required starts no browser without');
  } finally {
    await tool.close();
  }
});

test('a program that is no browser is reported', async () => {
  const tool = await startTool({ env: { CHROMIUM_PATH: '/bin/false' } });
  try {
    const answer = await tool.post('/navigate', { url: 'about:blank' });
    expect(answer).toMatchObject({ status: 503, code: 'BROWSER_LAUNCH_FAILED' });
    expect(answer.error).toMatch(/^\/bin\/false did not start: it exited with status 1\. /);
  } finally {
    await tool.close();
  }
});
