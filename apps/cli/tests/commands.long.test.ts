import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  preparedDataDir,
  rpcCall,
  startProcess,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createCommandLine, type CommandLine, type StoredFile } from './command-line.ts';
import { checkConfig } from './check-config.ts';
import { manageKeys } from './manage-keys.ts';
import { managePrices } from './manage-prices.ts';
import { manageUsers } from './manage-users.ts';
import { manageWebhooks } from './manage-webhooks.ts';
import { readAuditLog } from './read-audit-log.ts';
import { listModels, showState } from './show-state.ts';

const EMAIL = 'operator@example.com';
const PASSWORD = 'a long password of the operator';
const UPSTREAM_KEY = 'sk-key-of-the-upstream';
const OTHER_UPSTREAM_KEY = 'sk-another-key-of-the-upstream';
const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';

let data: TemporaryFolder;
let home: string;
let service: TestProcess;
let upstream: RunningChatUpstream;
let gateway: CommandLine;
let credentialsFile: string;
/** Tokens that were stored at any time. */
const tokens = new Set<string>();

beforeAll(async () => {
  data = await preparedDataDir();
  home = await mkdtemp(join(tmpdir(), 'model-gateway-cli-'));
  upstream = await startChatUpstream({ models: ['gpt-4o-mini'], apiKey: UPSTREAM_KEY });
  service = await startProcess({
    app: 'standalone',
    // Registering waits for the first probe, which is slow on a busy machine.
    env: { PATH, SERVICE_DATA_DIR: data.path, SERVICE_PROBE_TIMEOUT_MS: '20000' },
  });
  gateway = createCommandLine({
    PATH,
    HOME: home,
    GATEWAY_URL: service.url,
    SERVICE_DATA_DIR: data.path,
    UPSTREAM_KEY,
    OTHER_UPSTREAM_KEY,
  });
  credentialsFile = join(home, '.config', 'model-gateway', 'credentials.json');
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
  await data.remove();
  await rm(home, { recursive: true, force: true });
});

async function stored(): Promise<StoredFile> {
  const file = JSON.parse(await readFile(credentialsFile, 'utf8')) as StoredFile;
  for (const { sign_in, admin_token } of Object.values(file.services))
    for (const token of [sign_in.access_token, sign_in.refresh_token, admin_token])
      if (typeof token === 'string') tokens.add(token);
  return file;
}

/** Changes the stored sign-in, as time or another program would. */
async function changeSignIn(changes: Readonly<Record<string, string | number>>): Promise<void> {
  const file = await stored();
  Object.assign(file.services[service.url]?.sign_in ?? {}, changes);
  await writeFile(credentialsFile, JSON.stringify(file));
}

test('without a sign-in a command says how to sign in, and doctor says what to do next', async () => {
  const refused = await gateway.runHere(['usage']);
  expect(refused).toMatchObject({ status: 3, stdout: '' });
  expect(refused.stderr).toContain(`Run: gateway login --url ${service.url}`);
  const { checks } = (await gateway.json(['doctor'])) as { checks: { name: string }[] };
  expect(checks).toEqual(
    expect.arrayContaining([
      { name: 'service', status: 'ok', message: expect.any(String), next: null },
      { name: 'stores', status: 'ok', message: expect.any(String), next: null },
      { name: 'management', status: 'ok', message: expect.any(String), next: null },
      { name: 'gpu-nodes', status: 'ok', message: expect.any(String), next: null },
      { name: 'clock', status: 'ok', message: expect.any(String), next: null },
      { name: 'disk', status: 'ok', message: expect.stringContaining(data.path), next: null },
      {
        name: 'sign-in',
        status: 'warning',
        message: expect.any(String),
        next: expect.stringContaining('gateway login'),
      },
      {
        name: 'backends',
        status: 'warning',
        message: expect.stringContaining('only the demo model'),
        next: expect.stringContaining('gateway backends add'),
      },
    ]),
  );
});

test('where nothing listens doctor says how to start, with a clone and with the package', async () => {
  const { stdout } = await gateway.runHere(['doctor', '--json', '--url', 'http://127.0.0.1:9']);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; next: string | null }[] };
  const next = checks.find(({ name }) => name === 'service')?.next;
  expect(next).toContain('npm start');
  expect(next).toContain('npx model-gateway');
  // Its port may be another one.
  expect(next).toContain('--url');
});

test('login registers with a password from standard input and keeps the sign-in for its owner only', async () => {
  const password = { stdin: `${PASSWORD}\n` };
  const args = ['login', '--email', EMAIL, '--password-stdin'];
  expect(await gateway.runHere(args, password)).toMatchObject({ status: 3, stdout: '' });
  const registered = await gateway.runHere([...args, '--register'], password);
  expect(registered.stderr).toMatch(
    /^Created the first account .* admin, on the tier enterprise\./,
  );
  expect(await gateway.json(['plan', 'show'])).toMatchObject({ current_tier: 'enterprise' });
  expect(await gateway.json([...args, '--register'], password)).toMatchObject({
    url: service.url,
    user: { email: EMAIL, is_admin: true },
    credentials_file: credentialsFile,
  });
  expect((await stat(credentialsFile)).mode & 0o777).toBe(0o600);
  expect((await stat(dirname(credentialsFile))).mode & 0o777).toBe(0o700);
  expect((await stored()).current).toBe(service.url);
  expect(await gateway.run(args, password)).toMatchObject({
    status: 0,
    stdout: `Signed in at ${service.url} as ${EMAIL}, an admin.\n`,
  });
  expect(await gateway.run([...args, '--register'], password)).toMatchObject({ status: 0 });
  expect(await gateway.runHere([...args, '--register'], { stdin: 'another one' })).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('email already registered'),
  });
});

test('whoami and status say who you are and what runs', () =>
  showState(gateway, { url: service.url, email: EMAIL }));

test('keys are created, listed and revoked by name', () => manageKeys(gateway, service.url));

test('a backend is added, listed, tested and removed by name, and its state says what is wrong', async () => {
  const add = ['backends', 'add', 'cloud', upstream.url];
  const wrong = await gateway.runHere([...add, '--api-key-env', 'OTHER_UPSTREAM_KEY']);
  expect(wrong.status).toBe(1);
  expect(wrong.stderr).toContain('gateway backends test cloud');
  expect((await gateway.runHere(['backends', 'list'])).stdout).toMatch(
    /^cloud +external +\S+ .*401/m,
  );
  const failed = await gateway.runHere(['backends', 'test', 'cloud']);
  expect(failed).toMatchObject({ status: 1 });
  expect(failed.stdout).toMatch(/^probe .*401.*\nchat /);
  const taken = await gateway.runHere([...add, '--api-key-env', 'UPSTREAM_KEY']);
  expect(taken).toMatchObject({ status: 2 });
  expect(taken.stderr).toContain('--replace');
  const key = { stdin: UPSTREAM_KEY };
  expect(await gateway.json([...add, '--replace', '--api-key-stdin'], key)).toMatchObject({
    name: 'cloud',
    backend: { state: 'Healthy', models: ['gpt-4o-mini'] },
  });
  expect(await gateway.json(['backends', 'test', 'cloud'])).toMatchObject({
    status: 'ok',
    chat: { status: 'ok', model: 'gpt-4o-mini' },
  });
  await listModels(gateway);
  const limits = ['--rpm', '60', '--concurrency', '4'];
  const keyOption = ['--api-key-env', 'UPSTREAM_KEY'];
  const addSpare = ['backends', 'add', 'spare', upstream.url, ...keyOption, ...limits];
  const other = await gateway.runHere([...addSpare, '--auth-header', 'api-key']);
  expect(other.stdout).toContain('the models listing answered 401');
  expect(upstream.requests.some(({ headers }) => headers['api-key'] === UPSTREAM_KEY)).toBe(true);
  const spare = [...addSpare, '--dialect', 'responses', '--replace'];
  expect(await gateway.json(spare)).toMatchObject({
    backend: {
      state: 'Healthy',
      dialects: ['responses'],
      limits: { rpm: 60, tpm: null, concurrency: 4, tokens_per_day: null },
    },
  });
  expect(await gateway.json(['route', 'gpt-4o-mini'])).toMatchObject({
    has_route: false,
    targets: expect.arrayContaining([
      expect.objectContaining({ backend: 'cloud', model: 'gpt-4o-mini', reason: null }),
    ]),
  });
  expect((await gateway.runHere(['route', 'gpt-4o-mini'])).stdout).toMatch(
    / cloud +gpt-4o-mini +- +(?:100 %|-)/,
  );
  const nowhere = await gateway.runHere(['route', 'nobody-serves-it', '--capability', 'chat']);
  expect(nowhere.stdout).toMatch(/^ +- +cloud .*model not listed$/m);
  expect(nowhere.stderr).toContain('No backend would get a request for nobody-serves-it now.');
  expect((await gateway.runHere(['backends', 'remove', 'spare'])).status).toBe(0);
  expect(await gateway.runHere(['backends', 'remove', 'spare'])).toMatchObject({ status: 5 });
});

test('a chat prints the reply, then its tokens, times and cost, which are those of its usage row', async () => {
  const shown = await gateway.run(['chat', 'gpt-4o-mini'], { stdin: 'Hello from a pipe' });
  expect(shown.stdout).toContain('Hello from a pipe');
  expect(shown.stderr).toMatch(
    /^gpt-4o-mini: \d+ prompt and \d+ completion tokens from cloud, first token \d.*, total \d.*, cost: \$0\.0\d+\n$/,
  );
  const result = (await gateway.json(['chat', 'gpt-4o-mini', 'Hello again'])) as {
    cost_usd: number;
    usage_id: string;
  };
  expect(result).toMatchObject({
    model: 'gpt-4o-mini',
    content: expect.stringContaining('Hello again'),
    finish_reason: 'stop',
    upstream: 'cloud',
    first_token_ms: expect.any(Number),
    total_ms: expect.any(Number),
  });
  const usage = await gateway.json(['usage', '--limit', '1']);
  expect(usage).toMatchObject({
    records: [{ id: result.usage_id, cost: result.cost_usd, model: 'gpt-4o-mini' }],
    total: 2,
    month: { requests: 2 },
  });
  expect((await gateway.runHere(['usage', '--limit', '1'])).stdout).toContain(
    'This month: 2 metered requests',
  );
  expect(await gateway.json(['spend', '--by', 'model', '--model', 'gpt-4o-mini'])).toMatchObject({
    group_by: 'model',
    groups: [{ key: 'gpt-4o-mini' }],
  });
  expect(await gateway.json(['requests', '--limit', '1'])).toMatchObject({
    requests: [{ id: result.usage_id }],
    next_cursor: expect.any(String),
  });
  expect((await gateway.runHere(['requests', '--errors'])).stdout).toBe('No requests.\n');
  expect((await gateway.runHere(['spend', '--by', 'upstream'])).stdout).toContain('cloud');
  expect(
    (await gateway.runHere(['spend', '--from', '2020-01-01', '--to', '2020-01-02'])).stdout,
  ).toBe('Nothing was spent, 2020-01-01 00:00:00 to 2020-01-03 00:00:00 (UTC).\n');
  const unknown = await gateway.runHere(['chat', 'no-such-model', 'Hello']);
  expect(unknown).toMatchObject({ status: 5, stdout: '' });
  expect(unknown.stderr).toContain('gateway models');
  upstream.faults.next({ kind: 'error-chunk', message: 'the engine is broken' }, 1, 'chat');
  const broken = await gateway.runHere(['chat', 'gpt-4o-mini', 'Hello']);
  expect(broken).toMatchObject({ status: 1 });
  expect(broken.stderr).toContain('the engine is broken');
});

test('a chat is streamed, and Ctrl-C ends it with status 130', async () => {
  upstream.faults.next({ kind: 'stall', afterChunks: 3 }, 1, 'chat');
  const { child, stdout } = gateway.start(['chat', 'gpt-4o-mini', 'Hello']);
  await waitUntil(() => stdout() !== '', { what: 'the first token' });
  child.kill('SIGINT');
  const [status] = await once(child, 'close');
  expect(status).toBe(130);
});

test('prices are listed, explained and imported', () => managePrices(gateway, home));
test('a configuration file is checked by the service', () => checkConfig(gateway, home));

test('plan shows the limits and sets a tier; doctor names the command that lifts a limit', async () => {
  await gateway.runHere(['plan', 'set', EMAIL, 'free']);
  expect(await gateway.json(['plan', 'show'])).toMatchObject({ current_tier: 'free' });
  expect((await gateway.runHere(['plan', 'show'])).stdout).toMatch(/^free +10 /m);
  expect((await gateway.runHere(['doctor'])).stdout).toContain(
    `→ To lift these limits: gateway plan set ${EMAIL} enterprise`,
  );
  expect(await gateway.runHere(['plan', 'set', EMAIL, 'gold'])).toMatchObject({ status: 5 });
  const raised = await gateway.runHere(['plan', 'set', EMAIL, 'enterprise']);
  expect(raised).toMatchObject({ status: 0, stderr: expect.stringContaining(data.path) });
  expect(await gateway.json(['doctor'])).toMatchObject({
    ok: true,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: 'plan', status: 'ok' }),
      expect.objectContaining({ name: 'backends', status: 'ok' }),
    ]),
  });
});

test('a used-up quota ends a chat with status 6, and says how to lift it', async () => {
  const adminToken = await readFile(join(data.path, 'secrets', 'admin-token'), 'utf8');
  const tier = { name: 'nothing', monthly_token_quota: 0 };
  await rpcCall(service.url, 'billing.tiers.set', tier, adminToken.trim());
  await gateway.runHere(['plan', 'set', EMAIL, 'nothing']);
  const refused = await gateway.runHere(['chat', 'gpt-4o-mini', 'Hello']);
  expect(refused).toMatchObject({ status: 6, stdout: '' });
  expect(refused.stderr).toContain('gateway plan set');
  await gateway.runHere(['plan', 'set', EMAIL, 'enterprise']);
});

test('nodes are for admins', async () => {
  expect(await gateway.json(['nodes'])).toEqual({ nodes: [] });
  const other = createCommandLine({ PATH, HOME: join(home, 'other'), GATEWAY_URL: service.url });
  const second = await other.runHere(
    ['login', '--register', '--email', 'user@example.com', '--password-stdin'],
    { stdin: PASSWORD },
  );
  expect(second.stderr).toContain('It is not an admin');
  expect(await other.runHere(['nodes'])).toMatchObject({ status: 3 });
  // It finds no data directory of a service.
  const refused = await other.runHere(['backends', 'list']);
  expect(refused).toMatchObject({ status: 3 });
  expect(refused.stderr).toContain('--admin-token-stdin');
  const stdin = await readFile(join(data.path, 'secrets', 'admin-token'), 'utf8');
  tokens.add(stdin.trim());
  expect(await other.runHere(['login', '--admin-token-stdin'], { stdin: 'wrong' })).toMatchObject({
    status: 3,
  });
  expect((await other.runHere(['login', '--admin-token-stdin'], { stdin })).status).toBe(0);
  expect((await other.runHere(['backends', 'list'])).stdout).toContain('cloud');
  for (const token of tokens) expect(other.printed()).not.toContain(token);
});

test('accounts are listed, shown, changed and erased, with a sign-in or the admin token', () =>
  manageUsers(gateway, service.url));

test('the audit log is listed, checked and exported', () =>
  readAuditLog(gateway, { folder: home, email: EMAIL }));

test('webhooks are created, listed, tested and removed', () => manageWebhooks(gateway));

test('two processes at once renew an expired sign-in once, and both go on', async () => {
  await changeSignIn({ expires_at: 0 });
  const outcomes = await Promise.all([
    gateway.run(['plan', 'show']),
    gateway.run(['keys', 'list']),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual([0, 0]);
  // Using a refresh token twice would have ended the sign-in.
  expect((await gateway.runHere(['plan', 'show'])).status).toBe(0);
});

test('a token that the service refuses is renewed', async () => {
  await changeSignIn({ access_token: 'not.a.token' });
  expect((await gateway.runHere(['models'])).status).toBe(0);
  await changeSignIn({ access_token: 'not.a.token' });
  expect((await gateway.runHere(['plan', 'show'])).status).toBe(0);
});

test('scripts get the problem as JSON and by the exit status', async () => {
  const unreachable = await gateway.runHere(
    ['login', '--email', EMAIL, '--password-stdin', '--json'],
    {
      stdin: PASSWORD,
      env: { GATEWAY_URL: `http://127.0.0.1:${upstream.port}/nowhere` },
    },
  );
  expect(unreachable).toMatchObject({ status: 4, stdout: '' });
  expect(JSON.parse(unreachable.stderr)).toEqual({
    error: { code: 'unreachable', message: expect.any(String), next: expect.any(String) },
  });
  const other = await gateway.runHere(['doctor', '--url', upstream.url, '--json']);
  expect(other.status).toBe(1);
  expect(JSON.parse(other.stdout)).toMatchObject({
    ok: false,
    checks: expect.arrayContaining([
      {
        name: 'service',
        status: 'failed',
        message: expect.stringContaining('is not a Model Gateway'),
        next: expect.stringContaining('SERVICE_PORT'),
      },
    ]),
  });
});

test('logout ends the sign-in here and at the service', async () => {
  const { sign_in } = (await stored()).services[service.url] ?? { sign_in: {} };
  const ended = { url: service.url, signed_out: true, confirmed: true };
  expect(await gateway.json(['logout'])).toEqual(ended);
  expect((await gateway.runHere(['plan', 'show'])).status).toBe(3);
  const refresh = { refresh_token: sign_in['refresh_token'] };
  const { error } = await rpcCall(service.url, 'auth.refresh', refresh);
  expect(error?.code).toBe(-32_005);
});

test('no command printed a token or the password', () => {
  expect(tokens.size).toBeGreaterThan(4);
  for (const secret of [...tokens, PASSWORD, UPSTREAM_KEY])
    expect(gateway.printed()).not.toContain(secret);
});
