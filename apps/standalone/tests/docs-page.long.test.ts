import { existsSync } from 'node:fs';
import { ERROR_HELP, rpcMethods } from '@model-gateway/contracts';
import { pathOf } from '@model-gateway/http';
import {
  createTestAccount,
  createTestContext,
  rpcCall,
  type TestContext,
} from '@model-gateway/testkit';
import { createGateway } from 'gateway/app';
import { chromium, type Browser, type Page } from 'playwright-core';
import { createRpc } from 'rpc/app';
import { readStandaloneConfig } from '../src/config.ts';

interface ErrorBody {
  readonly error: { readonly doc?: string };
}

/** Takes a third less CPU time than the whole browser; not every Debian has it. */
const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell';
const SHOW_TIMEOUT_MS = 120_000;

let scene: TestContext;
let url: string;
let token: string;
let browser: Browser;

beforeAll(async () => {
  scene = await createTestContext();
  // The public address is not the one that the browser opens: the pages call the address that they came from.
  const config = readStandaloneConfig({ SERVICE_PUBLIC_URL: 'https://models.example.com/' });
  const gateway = createGateway(config, scene.context);
  const rpc = createRpc(config, scene.context);
  url = await scene.serve({
    ...gateway,
    start: async () => {
      await rpc.start();
      await gateway.start();
    },
    stop: async () => {
      await gateway.stop();
      await rpc.stop();
    },
    handle: (request, response) =>
      (pathOf(request) === '/api/rpc' ? rpc : gateway).handle(request, response),
  });
  ({ token } = await createTestAccount(scene.context, 'you@example.com'));
  browser = await chromium.launch({
    executablePath: existsSync(HEADLESS_SHELL) ? HEADLESS_SHELL : '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--disable-component-update',
    ],
  });
});
afterAll(async () => {
  await browser.close();
  await scene.close();
});

test('an error names the row that explains it, if the public address is known', async () => {
  const refused = (await (await fetch(`${url}/api/admin/backends`)).json()) as ErrorBody;
  const anchor = 'unauthorized-admin_token_required';
  expect(refused.error.doc).toBe(`https://models.example.com/docs/errors#${anchor}`);
  const page = await browser.newPage();
  await page.goto(`${url}/docs/errors#${anchor}`);
  const row = await page.locator('tr:target').innerText();
  expect(row).toMatch(/^401\s+unauthorized\s+-32005\s.*admin token/);
  expect(await page.locator('tbody tr').count()).toBe(Object.keys(ERROR_HELP).length);
  await page.close();
  const config = readStandaloneConfig({});
  const unnamed = await scene.serve(createGateway(config, scene.context));
  const without = (await (await fetch(`${unnamed}/api/admin/backends`)).json()) as ErrorBody;
  expect(without.error).not.toHaveProperty('doc');
});

test('an RPC error names its row in its data, beside what is there', async () => {
  const docOf = async (body: unknown): Promise<unknown> => {
    const response = await fetch(`${url}/api/rpc`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return ((await response.json()) as { error: { data: unknown } }).error.data;
  };
  const doc = (anchor: string): string => `https://models.example.com/docs/errors#${anchor}`;
  const message = { jsonrpc: '2.0', id: 1 };
  expect(await docOf('{')).toEqual({ doc: doc('invalid_json') });
  expect(await docOf({ ...message, method: 7 })).toEqual({ doc: doc('invalid_request') });
  expect(await docOf({ ...message, method: 'no.such' })).toEqual({
    doc: doc('method_not_allowed'),
  });
  expect(await docOf({ ...message, method: 'keys.create', params: {} })).toEqual({
    issues: expect.any(Array),
    doc: doc('missing_fields'),
  });
  const wrong = { email: 'you@example.com', password: 'wrong' };
  expect(await docOf({ ...message, method: 'auth.login', params: wrong })).toEqual({
    doc: doc('unauthorized-invalid_credentials'),
  });
});

/** Opens a page of the documentation and collects what a browser complains about. */
async function openDocs(path: string) {
  const page = await browser.newPage();
  page.setDefaultTimeout(SHOW_TIMEOUT_MS);
  const foreign: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== url) foreign.push(request.url());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => problems.push(message.text()));
  const response = await page.goto(`${url}${path}`);
  await page.waitForSelector('.opblock-tag');
  return { page, foreign, problems, headers: response?.headers() ?? {} };
}

/** Enters a credential as a person does. */
async function authorize(page: Page, scheme: string, credential: string): Promise<void> {
  await page.locator('.btn.authorize').click();
  const form = page.locator('.auth-container', { hasText: `${scheme} ` });
  await form.locator('input').fill(credential);
  await form.getByRole('button', { name: 'Apply credentials' }).click();
  await page.locator('.close-modal').click();
}

/** Sends the request of an operation as it is prefilled; returns the body of the answer. */
async function execute(page: Page, operation: string): Promise<string> {
  const block = page.locator('.opblock', { has: page.locator(`[data-path="${operation}"]`) });
  await block.locator('.opblock-summary-control').first().click();
  await block.locator('.btn.execute').click();
  return block.locator('.live-responses-table .response .highlight-code').first().innerText();
}

test('every REST route can be tried on the page, with a key that is kept nowhere', async () => {
  const { page, foreign, problems, headers } = await openDocs('/docs');
  expect(await page.title()).toBe('Model Gateway REST API');
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
  const operations = Object.values(paths).flatMap((methods: object) => Object.keys(methods));
  expect(operations.length).toBeGreaterThan(20);
  expect(await page.locator('.opblock').count()).toBe(operations.length);
  const links = await page.getByRole('navigation').getByRole('link').all();
  expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([
    '/docs',
    '/docs/rpc',
    '/docs/errors',
    '/openapi.json',
  ]);
  const key = await rpcCall(url, 'keys.create', { name: 'test' }, token);
  await authorize(page, 'apiKey', (key.result as { key: string }).key);
  expect(await execute(page, '/v1/models')).toContain('"object": "list"');
  expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
  expect(foreign).toEqual([]);
  expect(problems).toEqual([]);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  });
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  expect(headers['content-security-policy']).not.toContain('unsafe-');
  // The policy is in force: what is not part of the page does not run.
  await page.evaluate(
    'const script = document.createElement("script"); script.textContent = "document.title = 1"; document.body.append(script);',
  );
  expect(await page.title()).toBe('Model Gateway REST API');
  expect(problems.join()).toContain('Content Security Policy');
  await page.close();
});

test('every RPC method can be tried on the page beside it', async () => {
  const { page, foreign, problems } = await openDocs('/docs/rpc');
  await authorize(page, 'accessToken', token);
  await page.locator('.opblock-tag', { hasText: 'auth' }).click();
  expect(await execute(page, '/api/rpc#auth.me')).toContain('"email": "you@example.com"');
  const groups = new Set(Object.keys(rpcMethods).map((name) => name.split('.')[0]));
  expect(await page.locator('.opblock-tag').count()).toBe(groups.size);
  const inGroup = Object.keys(rpcMethods).filter((name) => name.startsWith('auth.'));
  expect(await page.locator('.opblock').count()).toBe(inGroup.length);
  expect(foreign).toEqual([]);
  expect(problems).toEqual([]);
  await page.close();
});

test('the files of the viewer are compressed, and found by clients without compression too', async () => {
  const file = `${url}/docs/viewer/swagger-ui.css`;
  const compressed = await fetch(file);
  const plain = await fetch(file, { headers: { 'accept-encoding': 'identity' } });
  expect(compressed.headers.get('content-encoding')).toBe('gzip');
  expect(plain.headers.get('content-encoding')).toBeNull();
  expect(await plain.text()).toBe(await compressed.text());
  expect((await fetch(`${url}/docs/viewer/package.json`)).status).toBe(404);
});
