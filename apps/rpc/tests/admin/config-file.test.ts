import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@model-gateway/kernel';
import { temporaryDataDir, waitUntil, type TemporaryFolder } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { ADMIN_TOKEN, startRpc, type RpcServer } from '../rpc-server.ts';

let folder: TemporaryFolder;
let upstream: RunningChatUpstream;
let rpc: RpcServer;
let adminUser: string;
/** The file that the service is started with. */
let whole: string;

const SIGNING_SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;

beforeAll(async () => {
  folder = await temporaryDataDir();
  upstream = await startChatUpstream({ models: ['m'] });
  const file = join(folder.path, 'gateway.yaml');
  whole = `
backends:
  - { name: gpu, type: external, url: "${upstream.url}" }
aliases:
  - { alias: fast, target: m }
routes:
  - model: m
    timeout_secs: 20
    targets:
      - { model: m, backend: gpu }
tiers:
  - { name: team, rpm: 600 }
  - { name: pro, rpm: 7 }
prices:
  - { pattern: M, backend: gpu, input_per_million: 1, output_per_million: 2 }
webhooks:
  - url: https://hooks.example.com/services/secret-path
    events: [backend.unhealthy]
    secret: ${SIGNING_SECRET}
`;
  await writeFile(file, whole);
  rpc = await startRpc({ SERVICE_CONFIG: file });
  adminUser = (await rpc.createAccount('admin@example.com')).token;
});
afterAll(async () => {
  await rpc.test.close();
  await upstream.close();
  await folder.remove();
});

const listed = async (method: string): Promise<unknown> =>
  (await rpc.call(method, {}, adminUser)).result;
const tiers = async () =>
  ((await listed('billing.plan')) as { tiers: readonly { name: string }[] }).tiers;
const webhooks = async () =>
  ((await listed('webhooks.list')) as { webhooks: readonly { id: string }[] }).webhooks;

test('every section of the file is applied before the first request, and marked in its list', async () => {
  expect(await listed('backends.list')).toMatchObject([{ name: 'gpu', source: 'file' }]);
  expect(await listed('aliases.list')).toMatchObject({
    aliases: [{ alias: 'fast', target: 'm', source: 'file' }],
  });
  expect(await listed('routes.list')).toMatchObject([
    { model: 'm', timeout_secs: 20, attempts: 2, source: 'file' },
  ]);
  expect((await tiers()).filter((tier) => 'source' in tier)).toEqual([
    { name: 'pro', monthly_usd_quota: 20, monthly_token_quota: 5_000_000, rpm: 7, source: 'file' },
    { name: 'team', monthly_usd_quota: null, monthly_token_quota: null, rpm: 600, source: 'file' },
  ]);
  expect(await listed('billing.pricing.get')).toMatchObject({
    pricing: expect.arrayContaining([
      {
        pattern: 'm',
        backend: 'gpu',
        input_per_million: 1,
        output_per_million: 2,
        source: 'file',
      },
    ]),
  });
  const explained = await rpc.call('billing.pricing.explain', { model: 'm' }, adminUser);
  expect(explained.result).toMatchObject({
    price: { pattern: 'm', source: 'file' },
    backends: [{ backend: 'gpu', price: { source: 'file' } }],
  });
  expect(await webhooks()).toMatchObject([
    { url: 'https://hooks.example.com/services/secret-path', format: 'standard', source: 'file' },
  ]);
});

test.each([
  ['backends.add', { name: 'gpu', type: 'external', url: 'http://x' }],
  ['backends.update', { name: 'gpu', models: ['n'] }],
  ['backends.remove', { name: 'gpu' }],
  ['aliases.set', { alias: 'fast', target: 'n' }],
  ['aliases.remove', { alias: 'fast' }],
  ['routes.set', { model: 'm', targets: [{ model: 'n' }] }],
  ['routes.remove', { model: 'm' }],
  ['billing.tiers.set', { name: 'team', rpm: 1 }],
  ['billing.tiers.set', { name: 'pro', rpm: 1 }],
  [
    'billing.pricing.set',
    { pattern: 'm', backend: 'gpu', input_per_million: 9, output_per_million: 9 },
  ],
  [
    'billing.pricing.set',
    { pattern: 'm', backend: 'gpu', input_per_million: null, output_per_million: null },
  ],
])('%s %j does not change what comes from the file', async (method, params) => {
  const token = method.startsWith('billing') ? ADMIN_TOKEN : adminUser;
  const { error } = await rpc.call(method, params, token);
  expect(error).toMatchObject({
    code: -32_000,
    message: expect.stringContaining('of the configuration file; change it there'),
  });
});

test('a webhook of the file is tested but not removed by a call', async () => {
  const [webhook] = await webhooks();
  const { error } = await rpc.call('webhooks.remove', { webhook_id: webhook?.id }, adminUser);
  expect(error).toMatchObject({ message: expect.stringContaining('of the configuration file') });
  // The path of its URL can be a secret.
  expect(error?.message).not.toContain('secret-path');
  const tested = await rpc.call('webhooks.test', { webhook_id: webhook?.id }, adminUser);
  expect(tested.error).toBeUndefined();
});

test('calls still change everything else', async () => {
  expect(
    (await rpc.call('aliases.set', { alias: 'own', target: 'm' }, adminUser)).error,
  ).toBeUndefined();
  const price = { pattern: 'm', input_per_million: 1, output_per_million: 1 };
  expect((await rpc.call('billing.pricing.set', price, ADMIN_TOKEN)).error).toBeUndefined();
});

test('config.check names line and field of what is wrong, and what an apply would change', async () => {
  const check = (text: string, variables: object = {}, token = ADMIN_TOKEN) =>
    rpc.call('config.check', { text, variables }, token);
  const wrong = await check('aliases:\n  - { alias: a, target: "${TARGET}" }\n');
  expect(wrong.result).toEqual({
    problems: [
      {
        line: 2,
        column: 17,
        field: 'aliases[0].target',
        message: 'needs the environment variable TARGET, which is not set',
      },
    ],
    plan: null,
  });
  expect((await check(whole)).result).toEqual({
    problems: [],
    plan: { added: [], changed: [], removed: [], unchanged: 7 },
  });
  const file = `
backends:
  - { name: gpu, type: external, url: "${upstream.url}" }
aliases:
  - { alias: fast, target: "\${TARGET}" }
  - { alias: slow, target: m }
`;
  const right = await check(file, { TARGET: 'n' }, adminUser);
  expect(right.result).toMatchObject({
    problems: [],
    plan: {
      added: [{ section: 'aliases', name: 'slow', reason: null }],
      changed: [{ section: 'aliases', name: 'fast', reason: null }],
      removed: expect.arrayContaining([{ section: 'routes', name: 'm' }]),
      unchanged: 1,
    },
  });
  const absent = `webhooks:
  - url: https://hooks.example.com/group
    events: [budget.threshold]
    group_id: ${newId()}
`;
  expect((await check(absent)).result).toEqual({
    problems: [
      {
        line: 4,
        column: 5,
        field: 'webhooks[0].group_id',
        message: 'names a group that does not exist',
      },
    ],
    plan: null,
  });
  const path = join(folder.path, 'absent-group.yaml');
  await writeFile(path, absent);
  const peer = await openPeer(path);
  await expect(peer.start()).rejects.toThrow(
    /is wrong: 4:5 webhooks\[0\]\.group_id names a group that does not exist; correct these lines/,
  );
  await peer.stop();
  const person = await rpc.createAccount('person@example.com');
  expect((await check(file, {}, person.token)).error).toMatchObject({ code: -32_007 });
  // Nothing was applied.
  expect(await listed('routes.list')).toMatchObject([{ model: 'm' }]);
});

test('a text whose aliases multiply is refused quickly, by the call and at the start', async () => {
  const lists = 'bcdefgh'.split('').map((name, index) => {
    const aliases = Array.from({ length: 150 }, () => `*${'abcdefg'[index] ?? ''}`);
    return `${name}: &${name} [${aliases.join(',')}]`;
  });
  const text = ['a: &a ["lol"]', ...lists].join('\n');
  const start = process.cpuUsage();
  const checked = await rpc.call('config.check', { text }, adminUser);
  const { user, system } = process.cpuUsage(start);
  expect(checked.result).toEqual({
    plan: null,
    problems: [{ line: 4, column: expect.any(Number), field: '', message: 'is too large' }],
  });
  // Building what the aliases stand for takes twenty seconds and more.
  expect((user + system) / 1_000).toBeLessThan(5_000);
  const file = join(folder.path, 'multiplied.yaml');
  await writeFile(file, text);
  const peer = await openPeer(file);
  await expect(peer.start()).rejects.toThrow(/is wrong: 4:\d+ the file is too large/);
  await peer.stop();
});

/** Another process, which applies this file when it starts. */
async function openPeer(file: string): Promise<ReturnType<typeof createRpc>> {
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
    SERVICE_CONFIG: file,
  });
  return createRpc(config, await rpc.test.openPeer());
}

async function startPeer(file: string): Promise<void> {
  await rpc.test.serve(await openPeer(file));
}

test('what leaves the file leaves the installation, and built-in tiers are as they were', async () => {
  const file = join(folder.path, 'empty.yaml');
  await writeFile(file, 'aliases:\n  - { alias: fast, target: other }\n');
  await startPeer(file);
  await waitUntil(async () => JSON.stringify(await listed('backends.list')) === '[]', {
    what: 'the removal of the backend',
  });
  await waitUntil(async () => JSON.stringify(await listed('routes.list')) === '[]', {
    what: 'the removal of the route',
  });
  await waitUntil(
    async () => JSON.stringify(await listed('aliases.list')).includes('"target":"other"'),
    { what: 'the changed alias' },
  );
  expect(await tiers()).toEqual([
    { name: 'free', monthly_usd_quota: 1, monthly_token_quota: 100_000, rpm: 10 },
    { name: 'pro', monthly_usd_quota: 20, monthly_token_quota: 5_000_000, rpm: 120 },
    { name: 'enterprise', monthly_usd_quota: null, monthly_token_quota: null, rpm: 1_000 },
  ]);
  expect(await webhooks()).toEqual([]);
  expect(JSON.stringify(await listed('billing.pricing.get'))).not.toContain('"backend":"gpu"');
  const set = await rpc.call('routes.set', { model: 'm', targets: [{ model: 'm' }] }, adminUser);
  expect(set.error).toBeUndefined();
});

test('a webhook that a call made is taken over, and keys that cannot be read are stored again', async () => {
  const { database } = rpc.test.context;
  const url = 'https://hooks.example.com/made-by-a-call';
  const events = ['node.offline'] as const;
  const made = { id: newId(), url, events, format: 'slack', groupId: null } as const;
  const webhook = { ...made, secret: 'whsec_AAAA', createdById: null, createdAt: new Date() };
  expect(await database.webhooks.create(webhook, 100)).toBe('created');
  const tested = await rpc.call('webhooks.test', { webhook_id: made.id }, adminUser);
  expect(tested.error).toBeUndefined();
  await database.outbox.publish({ now: new Date(), pendingMax: 10, withMail: false });
  const file = join(folder.path, 'taken.yaml');
  await writeFile(
    file,
    `
backends:
  - { name: gpu, type: external, url: '${upstream.url}', api_key: the-key }
webhooks:
  - { url: '${url}', events: [backend.healthy] }
`,
  );
  await startPeer(file);
  expect(await webhooks()).toMatchObject([{ url, events: ['backend.healthy'], source: 'file' }]);
  const [taken] = await webhooks();
  // What waited is still sent, signed with the secret that the receiver knows.
  const later = new Date(Date.now() + 60_000);
  const [due = newId()] = await database.deliveries.due(later, 10);
  const claimed = await database.deliveries.claim(due, later, later);
  expect(claimed?.receiver).toMatchObject({ webhookId: taken?.id, secret: 'whsec_AAAA' });
  const stored = async () =>
    (await database.backendConfigs.list()).find(({ name }) => name === 'gpu');
  const first = await stored();
  expect(first).toMatchObject({ apiKey: 'the-key' });
  // As it is read after a change of the encryption key.
  if (first !== undefined) await database.backendConfigs.save({ ...first, apiKey: null });
  // As a person would change it in the database.
  await database.webhooks.remove(taken?.id ?? '');
  await startPeer(file);
  expect(await stored()).toMatchObject({ apiKey: 'the-key' });
  expect(await webhooks()).toMatchObject([{ url, events: ['backend.healthy'], source: 'file' }]);
});
