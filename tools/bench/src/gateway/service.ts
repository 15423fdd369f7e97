import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgram, type Running } from '../measure/processes.ts';

/** Our whole service, as `npm start` runs it, with an account and a key whose limits are never reached. */
export interface Service extends Running {
  readonly key: string;
  /** Waits until all usage is recorded, so that the recorder does not slow down what is measured next. */
  recorded(): Promise<void>;
}

interface ServiceOptions {
  readonly cores: string | undefined;
  /** The arguments of Node; the build of this checkout by default. */
  readonly program?: readonly string[];
  readonly backends: readonly Backend[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface Backend {
  readonly name: string;
  readonly url: string;
  readonly models: readonly string[];
}

const OUR_CHECKOUT = resolve(import.meta.dirname, '../../../..');
const READY_TIMEOUT_MS = 60_000;
const RECORDED_TIMEOUT_MS = 60_000;
const POLL_MS = 100;

/** The program of a checkout that is built. */
export const builtIn = (checkout: string): string => join(checkout, 'apps/standalone/dist/main.js');

export async function startService(options: ServiceOptions): Promise<Service> {
  const { cores, program = [builtIn(OUR_CHECKOUT)], backends, environment = {} } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-bench-'));
  // Postgres runs as another user.
  await chmod(dataDir, 0o711);
  const adminToken = randomBytes(24).toString('base64url');
  const started = await startProgram({
    name: 'our service',
    command: () => [process.execPath, ...program],
    environment: (port) => ({
      NODE_ENV: 'production',
      SERVICE_PORT: `${port}`,
      SERVICE_DATA_DIR: dataDir,
      SERVICE_ADMIN_TOKEN: adminToken,
      SERVICE_DEMO: 'false',
      SERVICE_API_RATE_LIMIT_RPM: '1000000000',
      ...environment,
    }),
    cores,
  });
  const url = `http://127.0.0.1:${started.port}`;
  const stop = async (): Promise<void> => {
    await started.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await until('ready', READY_TIMEOUT_MS, async () => (await fetch(`${url}/readyz`)).ok);
    for (const backend of backends)
      await post(`${url}/api/admin/backends`, { type: 'external', ...backend }, adminToken);
    const key = await createKey(url, adminToken);
    const isRecorded = async (): Promise<boolean> =>
      /^service_journal_lag 0$/m.test(await (await fetch(`${url}/metrics`)).text());
    return {
      ...started,
      stop,
      key,
      recorded: () => until('idle', RECORDED_TIMEOUT_MS, isRecorded),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function createKey(url: string, adminToken: string): Promise<string> {
  const call = async (method: string, params: object, token?: string): Promise<Fields> => {
    const message = { jsonrpc: '2.0', id: 1, method, params };
    const { result, error } = await post(`${url}/api/rpc`, message, token);
    if (result === undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`);
    return result as Fields;
  };
  const account = { email: 'bench@example.com', password: randomBytes(12).toString('hex') };
  const { access_token: token } = await call('auth.register', account);
  // Quotas are checked for every request and never reached.
  const quotas = { monthly_usd_quota: 1e9, monthly_token_quota: 1e15, rpm: null };
  await call('billing.tiers.set', { name: 'free', ...quotas }, adminToken);
  const { key } = await call('keys.create', { name: 'bench' }, String(token));
  return String(key);
}

type Fields = Readonly<Record<string, unknown>>;

async function post(url: string, body: object, token?: string): Promise<Fields> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Fields;
}

async function until(
  what: string,
  timeoutMs: number,
  isTrue: () => Promise<boolean>,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  // A connection that was kept may belong to an earlier process of this port.
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`our service is not ${what} in time`);
    await sleep(POLL_MS);
  }
}
