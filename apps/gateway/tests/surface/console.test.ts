import { request, type IncomingMessage } from 'node:http';
import { startGateway, type GatewayUnderTest } from '../gateway.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.test.close());

const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });

/** The path of the script that the page loads first. */
async function entryScript(): Promise<string> {
  const html = await (await get('/console/')).text();
  return /src="(\/console\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
}

test('browsers are led to the console, and others get links', async () => {
  const browser = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
  expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console/']);
  const other = await get('/');
  expect(other.status).toBe(200);
  expect(await other.json()).toMatchObject({ links: { console: '/console/', docs: '/docs' } });
});

test.each(['/console', '/console/', '/console/keys', '/console/groups/1?tab=members'])(
  '%s is the page, which is never cached and runs only its own scripts and styles',
  async (path) => {
    const page = await get(path, { accept: 'text/html' });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const html = await page.text();
    expect(html).toMatch(/<meta name="build" content="[0-9a-f]{12}" ?\/?>/);
    expect(html).not.toMatch(/<style|<script(?![^>]* src=)/);
  },
);

test('the page and the service name the same build', async () => {
  const { build } = (await (await get('/console/build.json')).json()) as { build: string };
  expect(await (await get('/console/')).text()).toContain(`content="${build}"`);
});

test.each([
  { accepted: 'gzip, deflate, br', encoding: 'br' },
  { accepted: 'gzip', encoding: 'gzip' },
  { accepted: 'identity', encoding: undefined },
])('a script is kept forever, and compressed as $accepted allows', async (row) => {
  const path = await entryScript();
  const [response, size] = await new Promise<[IncomingMessage, number]>((resolve, reject) => {
    const sent = request(`${gateway.url}${path}`, {
      headers: { 'accept-encoding': row.accepted },
    });
    sent.once('error', reject);
    sent.once('response', (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
      answer.once('end', () => resolve([answer, bytes]));
    });
    sent.end();
  });
  expect(response.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(response.headers['content-encoding']).toBe(row.encoding);
  expect(response.headers['vary']).toContain('accept-encoding');
  expect(size).toBe(Number(response.headers['content-length']));
});

test('a script of an earlier build loads the page again, and other files are missing', async () => {
  const script = await get('/console/assets/keys-page-OLD.js');
  expect([script.status, script.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(script.headers.get('content-type')).toContain('text/javascript');
  expect(await script.text()).toContain('location.reload()');
  for (const path of ['/console/assets/old.css', '/console/assets/..%2findex.html'])
    expect((await get(path)).status).toBe(404);
});
