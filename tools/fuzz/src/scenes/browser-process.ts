import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { createSecretSearch } from '../run/secret-search.ts';
import type { BrowserMcpScene, BrowserScene } from '../target.ts';
import { startWatched } from './watched-process.ts';

const MAIN = resolve(import.meta.dirname, '../../../../apps/browser-tool/dist/main.js');
const LISTENING = /(?:listens on|serves MCP at) (http:\/\/[^\s/]+)/;

interface ProcessOptions {
  /** Without a browser, commands fail after their validation. */
  readonly hasBrowser?: boolean;
}

/** The HTTP API of the build of the browser tool, as a separate process. */
export const startBrowserProcess = (options: ProcessOptions = {}): Promise<BrowserScene> =>
  start('browser', ['debug', '--port', '0'], options);

/** The MCP server of that build over HTTP, as a separate process. */
export const startBrowserMcpProcess = (options: ProcessOptions = {}): Promise<BrowserMcpScene> =>
  start('browser-mcp', ['mcp', '--http', '--port', '0'], options);

type SceneOf<Kind> = Omit<BrowserScene, 'kind'> & { readonly kind: Kind };

async function start<Kind extends 'browser' | 'browser-mcp'>(
  kind: Kind,
  args: readonly string[],
  { hasBrowser = true }: ProcessOptions,
): Promise<SceneOf<Kind>> {
  const secrets = createSecretSearch();
  const token = randomBytes(24).toString('hex');
  secrets.add('browser_token', token);
  let url = '';
  const process = await startWatched({
    args: [MAIN, ...args],
    graceSeconds: 20,
    secrets,
    environment: {
      HOME: '/tmp',
      BROWSER_TOKEN: token,
      BROWSER_SKIP_BROWSER_FETCH: '1',
      // Pages of cases must not reach into any network.
      BROWSER_ALLOWED_ORIGINS: 'http://127.0.0.1:1',
      ...(hasBrowser ? {} : { BROWSER_BACKEND: 'servo' }),
    },
    readyLine: LISTENING,
    async untilReady(line) {
      url = LISTENING.exec(await line)?.[1] ?? '';
    },
  });
  return {
    ...process,
    kind,
    get url() {
      return url;
    },
    values: { browser_token: token },
    secrets,
  };
}
