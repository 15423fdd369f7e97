import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { startGuarded, SYSTEM_ENVIRONMENT, type GuardedProcess } from '@model-gateway/kernel';
import { createSecretSearch } from '../run/secret-search.ts';
import type { BrowserScene } from '../target.ts';
import { createLogWatch } from './watch-log.ts';

const MAIN = fileURLToPath(new URL('../../../apps/browser-tool/dist/main.js', import.meta.url));
const STOP_GRACE_SECONDS = 20;
const LISTENING = /listens on (http:\/\/\S+)/;

/** The build of the browser tool as a separate process. Without a browser, its commands fail after their validation. */
export async function startBrowserProcess({ hasBrowser = true } = {}): Promise<BrowserScene> {
  const secrets = createSecretSearch();
  const watch = createLogWatch(secrets);
  const token = randomBytes(24).toString('hex');
  secrets.add('browser_token', token);
  let child: GuardedProcess | undefined;
  let url = '';
  let isStopping = false;

  async function start(): Promise<void> {
    url = await new Promise<string>((resolve, reject) => {
      const started = startGuarded({
        command: [process.execPath, MAIN, 'debug', '--port', '0'],
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

  await start();
  return {
    kind: 'browser',
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
      if (child === undefined) await start();
    },
    async close() {
      isStopping = true;
      await child?.stop();
    },
  };
}
