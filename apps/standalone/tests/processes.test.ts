import {
  preparedDataDir,
  rpcCall,
  startProcess,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { childrenOf, metric, startStandalone, usageRows } from './standalone.ts';

const ADMIN_TOKEN = 'the token of an operator';
const RPM = 300;
const QUOTA_TOKENS = 3_000;

let folder: TemporaryFolder;
let service: TestProcess;

beforeAll(async () => {
  folder = await preparedDataDir();
  service = await startStandalone(folder.path, {
    SERVICE_PROCESSES: '2',
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_API_RATE_LIMIT_RPM: String(RPM),
  });
  const tiers = [
    { name: 'open', monthly_usd_quota: null, monthly_token_quota: null, rpm: 100_000 },
    { name: 'small', monthly_usd_quota: null, monthly_token_quota: QUOTA_TOKENS, rpm: 100_000 },
  ];
  for (const tier of tiers) await asAdmin('billing.tiers.set', tier);
});

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

async function asAdmin(method: string, params: object): Promise<unknown> {
  const { result, error } = await rpcCall(service.url, method, params, ADMIN_TOKEN);
  expect(error).toBeUndefined();
  return result;
}

/** A user of a tier, with a key. */
async function userOf(tier: string, email: string) {
  const registered = await rpcCall(service.url, 'auth.register', {
    email,
    password: 'long enough',
  });
  const { access_token: token } = registered.result as { access_token: string };
  await asAdmin('billing.plan.set', { user_email: email, tier });
  const created = await rpcCall(service.url, 'keys.create', { name: 'test' }, token);
  const { key } = created.result as { key: string };
  return { token, key };
}

/** Each request has a connection of its own, so that both processes get some. */
async function ask(key: string, content = 'Hello!'): Promise<number> {
  try {
    const response = await fetch(`${service.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        connection: 'close',
      },
      body: JSON.stringify({
        model: 'demo-chat',
        max_tokens: 20,
        messages: [{ role: 'user', content }],
      }),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

const times = (count: number, key: string): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: count }, () => ask(key)));

const served = (statuses: readonly number[]): number =>
  statuses.filter((status) => status === 200).length;

test('two processes share a port, and their metrics are those of one service', async () => {
  expect(await childrenOf(service.pid)).toHaveLength(3);
  const before = await metric(service.url, 'service_http_requests_total');
  for (let request = 0; request < 10; request += 1)
    await fetch(`${service.url}/readyz`, { headers: { connection: 'close' } });
  const after = await metric(service.url, 'service_http_requests_total');
  // The scrape itself counts as well.
  expect(after - before).toBe(11);
  expect(await metric(service.url, 'service_build_info')).toBe(1);
});

test('a quota holds for 500 requests at once, and what was served is recorded once', async () => {
  const { token, key } = await userOf('small', 'quota@example.com');
  const statuses = await times(500, key);
  const count = served(statuses);
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThan(500);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  await waitUntil(async () => (await usageOf(token)).requests === count, { what: 'all rows' });
  expect((await usageOf(token)).tokens).toBeLessThanOrEqual(QUOTA_TOKENS);
});

async function usageOf(
  token: string,
): Promise<{ readonly requests: number; readonly tokens: number }> {
  const { result } = await rpcCall(service.url, 'billing.plan', {}, token);
  return (result as { usage: { requests: number; tokens: number } }).usage;
}

test('the limit of requests per key holds over both processes', async () => {
  const { key } = await userOf('open', 'limited@example.com');
  let count = 0;
  for (let round = 0; round < 7; round += 1) count += served(await times(50, key));
  expect(count).toBe(RPM);
});

test('a process that is killed in the middle is started again; the other one serves, and nothing is lost', async () => {
  const { token, key } = await userOf('open', 'killed@example.com');
  const children = await childrenOf(service.pid);
  const answered = [times(20, key)];
  process.kill(children.at(-1) ?? 0, 'SIGKILL');
  answered.push(times(20, key));
  const statuses = (await Promise.all(answered)).flat();
  // Requests in the killed process have no answer; all others do.
  expect(statuses.filter((status) => status !== 0 && status !== 200)).toEqual([]);
  expect(await ask(key)).toBe(200);
  await waitUntil(async () => (await childrenOf(service.pid)).length === 3, {
    what: 'the new process',
  });
  const rows = await usageRows(service.url, token, served(statuses) + 1);
  expect(rows.length).toBeGreaterThanOrEqual(served(statuses) + 1);
  expect(service.output()).toContain('a process ended unexpectedly; starting it again');
});

test('without a Redis to share, the start says what to do', async () => {
  const other = await preparedDataDir();
  const start = startProcess({
    app: 'standalone',
    env: { PATH: '/nowhere', SERVICE_DATA_DIR: other.path, SERVICE_PROCESSES: '2' },
  });
  await expect(start).rejects.toThrow(
    /SERVICE_PROCESSES is 2, but there is no Redis .* set REDIS_URL, put a redis-server/,
  );
  await other.remove();
});
