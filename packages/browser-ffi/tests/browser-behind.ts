import { createServer, type AddressInfo, type Socket } from 'node:net';
import { homedir } from 'node:os';
import { loadConfig, silentLog } from '@model-gateway/kernel';
import { chromium, type Browser, type Page } from 'playwright-core';
import {
  resolveBrowser,
  resolveConfigFrom,
  resolveSettings,
} from '../../../apps/browser-tool/src/resolve/index.ts';
import { testBrowser } from '../../../apps/browser-tool/tests/test-browser.ts';

/** A real browser that the test engine asks, so that scripts run in true pages. */
export interface BrowserBehind {
  /** What the engine takes as its proxy, and finds the browser by. */
  readonly url: string;
  /** Methods that `browser_engine_call` offers; all others it does not know. */
  readonly offered: Map<string, (params: Record<string, unknown>, page: Page) => Promise<unknown>>;
  /** The options that engines were made with. */
  readonly options: readonly string[];
  close(): Promise<void>;
}

/** Starts one with the browser of the tests. */
export async function startBrowserBehind(): Promise<BrowserBehind> {
  const environment = { ...process.env, ...testBrowser() };
  const config = resolveConfigFrom(loadConfig(resolveSettings, environment), environment, {
    os: process.platform,
    architecture: process.arch,
    home: homedir(),
    executable: process.execPath,
  });
  const found = await resolveBrowser(config, silentLog);
  if (found.kind !== 'cdp') throw new Error('the test needs a browser that speaks CDP');
  const browser = await chromium.launch({
    executablePath: found.executable,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const offered: BrowserBehind['offered'] = new Map();
  const options: string[] = [];
  const server = createServer((socket) => {
    void serve(socket, browser, offered, options).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    offered,
    options,
    async close() {
      server.close();
      await browser.close();
    },
  };
}

async function serve(
  socket: Socket,
  browser: Browser,
  offered: BrowserBehind['offered'],
  options: string[],
): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 800, height: 600 } });
  socket.once('close', () => void page.close().catch(() => undefined));
  for await (const { kind, text } of messages(socket)) {
    if (kind === 'o') options.push(text);
    const answer = await handle(kind, text, page, offered).catch((error: unknown) =>
      failure(error),
    );
    const body = Buffer.from(answer.body);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(answer.status, 0);
    head.writeUInt32BE(body.length, 4);
    socket.write(Buffer.concat([head, body]));
  }
}

interface Answer {
  readonly status: number;
  readonly body: string | Buffer;
}

async function handle(
  kind: string,
  text: string,
  page: Page,
  offered: BrowserBehind['offered'],
): Promise<Answer> {
  if (kind === 'n') {
    return { status: 0, body: JSON.stringify(await navigate(page, text)) };
  }
  if (kind === 'e') {
    const result: unknown = await page.evaluate(text);
    return { status: 0, body: JSON.stringify({ result, type: typeof result }) };
  }
  if (kind === 's') {
    const { clip, full_page: fullPage } = JSON.parse(text) as {
      clip: { x: number; y: number; width: number; height: number } | null;
      full_page: boolean;
    };
    return {
      status: 0,
      body: await page.screenshot({ fullPage, ...(clip === null ? {} : { clip }) }),
    };
  }
  if (kind === 'c') {
    const [, method = '', params = '{}'] = /^(\S+) (.*)$/s.exec(text) ?? [];
    const run = offered.get(method);
    if (run === undefined) return { status: 2, body: '' };
    const value = await run(JSON.parse(params) as Record<string, unknown>, page);
    return { status: 0, body: JSON.stringify(value ?? null) };
  }
  return { status: 0, body: '' };
}

/** Asks the browser itself: what Playwright makes of a page that follows a failed one depends on the load of the machine. */
async function navigate(page: Page, url: string): Promise<object> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('Network.enable');
    const statuses = new Map<string, number>();
    session.on('Network.responseReceived', ({ requestId, response }) => {
      statuses.set(requestId, response.status);
    });
    const { errorText, loaderId = '' } = await session.send('Page.navigate', { url });
    if (errorText !== undefined && errorText !== '') throw new Error(errorText);
    const { result } = await session.send('Runtime.evaluate', { expression: 'location.href' });
    return { url: result.value as unknown, status: statuses.get(loaderId) ?? null };
  } finally {
    await session.detach();
  }
}

function failure(error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error);
  const code = /net::\w+/.exec(message)?.[0];
  return { status: 1, body: JSON.stringify({ code, message: message.split('\n')[0] }) };
}

async function* messages(socket: Socket): AsyncGenerator<{ kind: string; text: string }> {
  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    while (received.length >= 5 && received.length >= 5 + received.readUInt32BE(1)) {
      const end = 5 + received.readUInt32BE(1);
      yield { kind: received.toString('latin1', 0, 1), text: received.toString('utf8', 5, end) };
      received = received.subarray(end);
    }
  }
}
