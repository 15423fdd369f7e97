import { readdir, readFile } from 'node:fs/promises';
import { rpcCall, startProcess, waitUntil, type TestProcess } from '@model-gateway/testkit';

const START_TIMEOUT_MS = 180_000;
/** Runs the tests with several gateway processes: `TEST_PROCESSES=2 npm test -- apps/standalone`. */
const { TEST_PROCESSES } = process.env;
const PROCESSES = TEST_PROCESSES === undefined ? {} : { SERVICE_PROCESSES: TEST_PROCESSES };
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

/** Runs the built standalone app as a separate process. */
export async function startStandalone(
  dataDir: string,
  env: Readonly<Record<string, string>> = {},
  port?: number,
): Promise<TestProcess> {
  const standalone = await startProcess({
    app: 'standalone',
    ...(port === undefined ? {} : { port }),
    env: { PATH, SERVICE_DATA_DIR: dataDir, ...PROCESSES, ...env },
    readyTimeoutMs: START_TIMEOUT_MS,
  });
  await waitUntil(() => standalone.output().includes('Ctrl-C stops everything.'), {
    what: 'the banner',
  });
  return standalone;
}

/** The processes that a service has started beside its stores, by their parent. */
export async function childrenOf(parent: number): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => {
      const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
      const [, parentId] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      return Number(parentId) === parent && command.includes('main.js') ? [Number(id)] : [];
    }),
  );
  return found.flat().toSorted((left, right) => left - right);
}

/** The value of a metric without labels, or the sum over its series. */
export async function metric(baseUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (.+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

/** Registers an account, creates a key and sends one chat; returns the credentials. */
export async function chatOnce(baseUrl: string, email: string) {
  const registered = await rpcCall(baseUrl, 'auth.register', { email, password: 'long enough' });
  const { access_token: token } = registered.result as { access_token: string };
  const created = await rpcCall(baseUrl, 'keys.create', { name: 'test' }, token);
  const { key } = created.result as { key: string };
  const response = await chat(baseUrl, key);
  if (response.status !== 200)
    throw new Error(`the chat returned ${response.status}: ${await response.text()}`);
  return { token, key };
}

export function chat(baseUrl: string, key: string): Promise<Response> {
  return fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello!' }] }),
  });
}

/** Waits until the account has `count` usage rows, and returns them. */
export async function usageRows(
  baseUrl: string,
  token: string,
  count: number,
): Promise<readonly unknown[]> {
  let records: readonly unknown[] = [];
  await waitUntil(
    async () => {
      const { result } = await rpcCall(baseUrl, 'usage.list', {}, token);
      ({ records } = result as { records: readonly unknown[] });
      return records.length >= count;
    },
    { what: `${count} usage rows` },
  );
  return records;
}

/** The ids of all processes whose command line or working directory is inside a folder. */
export async function processesOf(folder: string): Promise<readonly number[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    ids.map(async (id) => {
      const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      return command.includes(folder) ? [id] : [];
    }),
  );
  return found.flat();
}
