import { createReadStream, existsSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser } from 'playwright-core';
import { startTestRpcServer, type TestRpcServer } from './test-rpc-server.ts';

/** Takes a third less CPU time than the whole browser; not every Debian has it. */
const HEADLESS_SHELL = '/usr/lib/chromium/chromium-headless-shell';

const FOLDERS: Readonly<Record<string, string>> = {
  client: fileURLToPath(new URL('../dist/', import.meta.url)),
  'json-rpc': fileURLToPath(new URL('../../json-rpc/dist/', import.meta.url)),
  'eventsource-parser': fileURLToPath(
    new URL('../node_modules/eventsource-parser/dist/', import.meta.url),
  ),
};
const IMPORTS = {
  '@model-gateway/client': '/modules/client/index.js',
  '@model-gateway/json-rpc': '/modules/json-rpc/index.js',
  'eventsource-parser': '/modules/eventsource-parser/index.js',
};
const PAGE = `<!doctype html><title>client</title><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports: IMPORTS })}</script>`;

let server: TestRpcServer;
let browser: Browser;

/** Serves the page and the modules as they were built, without a bundler. */
function serveFiles(request: IncomingMessage, response: ServerResponse): void {
  const path = /^\/modules\/(client|json-rpc|eventsource-parser)\/([\w-]+\.js)$/.exec(
    request.url ?? '',
  );
  if (path === null) {
    response.setHeader('content-type', 'text/html').end(PAGE);
    return;
  }
  response.setHeader('content-type', 'text/javascript');
  createReadStream(`${FOLDERS[path[1] ?? '']}${path[2]}`)
    .on('error', () => response.writeHead(404).end())
    .pipe(response);
}

beforeAll(async () => {
  server = await startTestRpcServer({
    answer: async ({ method, params }) => {
      if (method === 'auth.me')
        return { error: { code: -32_005, message: 'authentication required' } };
      server.streams
        .get('mine')
        ?.write(
          `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'realtime.event', params: { of: method } })}\n\n`,
        );
      return { result: { method, params } };
    },
    fallback: serveFiles,
  });
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
  await server.close();
});

/** Runs in the page. */
async function useClient(
  load: (name: string) => Promise<typeof import('@model-gateway/client')>,
): Promise<unknown> {
  const { createRpcClient } = await load('@model-gateway/client');
  const over = async (transport: 'http' | 'websocket') => {
    const client = createRpcClient({ baseUrl: location.origin, transport, token: 'a token' });
    const subscription = client.subscribe('mine');
    await subscription.ready;
    const call = await client.call('usage.list', { limit: 5 });
    const batch = await client.batch([{ method: 'system.status' }, { method: 'auth.me' }]);
    const received: unknown[] = [];
    for await (const event of subscription) {
      received.push(event);
      if (received.length === 2) break;
    }
    client.close();
    return { call, batch: batch.map(({ status }) => status), received };
  };
  return [await over('http'), await over('websocket')];
}
declare const location: { readonly origin: string };

test('the built client runs in a browser, with no dependency except JSON-RPC and the event parser', async () => {
  const page = await browser.newPage();
  const modules: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/modules/')) modules.push(pathname);
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(server.url);
  // Passed as text, because the test runner rewrites an import in a function.
  const answers: unknown = await page.evaluate(`(${useClient.toString()})((name) => import(name))`);
  const received = (of: string) => ({ jsonrpc: '2.0', method: 'realtime.event', params: { of } });
  const expected = {
    call: { method: 'usage.list', params: { limit: 5 } },
    batch: ['fulfilled', 'rejected'],
    received: [received('usage.list'), received('system.status')],
  };
  expect(answers).toEqual([expected, expected]);
  expect(problems).toEqual([]);
  expect(modules.filter((path) => !/^\/modules\/(client|json-rpc)\//.test(path))).toEqual([
    IMPORTS['eventsource-parser'],
  ]);
});
