import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { startGuarded, SYSTEM_ENVIRONMENT, type GuardedProcess } from '@model-gateway/kernel';
import { createSecretSearch } from '../run/secret-search.ts';
import type { BrowserMcpScene, BrowserScene } from '../target.ts';
import { createLogWatch } from './watch-log.ts';

const MAIN = fileURLToPath(new URL('../../../../apps/browser-tool/dist/main.js', import.meta.url));
const STOP_GRACE_SECONDS = 20;
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
  const watch = createLogWatch(secrets);
  const token = randomBytes(24).toString('hex');
  secrets.add('browser_token', token);
  let child: GuardedProcess | undefined;
  let url = '';
  let isStopping = false;

  async function startProcess(): Promise<void> {
    url = await new Promise<string>((resolve, reject) => {
      const started = startGuarded({
        command: [process.execPath, MAIN, ...args],
        graceSeconds: STOP_GRACE_SECONDS,
        environment: {
          ...SYSTEM_ENVIRONMENT,
          HOME: '/tmp',
          BROWSER_TOKEN: token,
          BROWSER_SKIP_BROWSER_FETCH: '1',
          // Pages of cases must not reach into any network.
          BROWSER_ALLOWED_ORIGINS: 'http://127.0.0.1:1',
          ...(hasBrowser ? {} : { BROWSER_BACKEND: 'servo' }),
        },
        onLine: (line) => {
          watch.onLine(line);
          const [, address] = LISTENING.exec(line) ?? [];
          if (address !== undefined) resolve(address);
        },
      });
      child = started;
      void started.exited.then((status) => {
        child = undefined;
        if (isStopping) return;
        const problem = `the process ended with status ${status}:\n${started.lastLines().join('\n')}`;
        watch.add(problem);
        reject(new Error(problem));
      });
    });
  }

  await startProcess();
  return {
    kind,
    get url() {
      return url;
    },
    values: { browser_token: token },
    secrets,
    get healthUrl() {
      return `${url}/health`;
    },
    takeProblems: watch.take,
    async ensureRunning() {
      if (child === undefined) await startProcess();
    },
    async close() {
      isStopping = true;
      await child?.stop();
    },
  };
}
