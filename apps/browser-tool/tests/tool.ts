import { silentLog } from '@model-gateway/kernel';
import { createBrowserTool, type BrowserTool } from '../src/app.ts';
import { readBrowserToolConfig } from '../src/config.ts';
import { startDebugServer } from '../src/servers/http/debug-server.ts';
import { borrowChromium } from './shared-chromium.ts';
import { testBrowser } from './test-browser.ts';

/** What the HTTP face answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly ok: boolean;
  // Decoded answers are of any shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
  readonly error: string;
  readonly code: string | undefined;
  readonly hint: string | undefined;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly details: any;
}

/** The tool with its HTTP face, in this process. */
export interface ToolUnderTest {
  readonly tool: BrowserTool;
  readonly url: string;
  readonly port: number;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
  /** Goes to a page and fails the test if that fails. */
  open(url: string): Promise<Answer>;
  close(): Promise<void>;
}

interface TestOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly proxy?: string;
}

/** Starts it with the browser of the tests, which is shared with the files that this worker runs later. */
export async function startTool({ env = {}, proxy }: TestOptions = {}): Promise<ToolUnderTest> {
  const { PATH, HOME } = process.env;
  const config = readBrowserToolConfig({
    PATH,
    HOME,
    BROWSER_SKIP_BROWSER_FETCH: '1',
    ...testBrowser(),
    ...env,
  });
  const browser = borrowChromium();
  const tool = createBrowserTool({ config, log: silentLog, proxy, launch: browser.launch });
  const server = await startDebugServer({ tool, host: '127.0.0.1', port: 0, log: silentLog });
  const url = `http://127.0.0.1:${server.port}`;
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as Omit<Answer, 'status' | 'headers'>;
    return { ...answer, status: response.status, headers: response.headers };
  };
  return {
    tool,
    url,
    port: server.port,
    get: (path) => call('GET', path),
    post: (path, body = {}) => call('POST', path, body),
    delete: (path) => call('DELETE', path),
    async open(address) {
      const answer = await call('POST', '/navigate', { url: address });
      if (!answer.ok) throw new Error(answer.error);
      return answer;
    },
    async close() {
      browser.giveBack();
      await Promise.all([server.close(), tool.close()]);
    },
  };
}
