import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fullSize, waitUntil, type TestProcess } from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { serverSettings } from './app-settings.ts';
import {
  postChat,
  callAs,
  followChat,
  followChatStream,
  register,
  startLoad,
  type ChatResult,
  type OpenStream,
  type TestAccount,
} from './clients.ts';
import { imageOf } from './dockerfile.ts';
import { startGpuNode, type GpuNode } from './gpu-node.ts';
import { openInstallation, type Installation } from './installation.ts';
import { startService, type Service } from './service.ts';

const SERVERS = Object.keys(serverSettings);
const MODEL = 'm';
const WORDS = 60;
const ANSWER = Array.from({ length: WORDS }, (_, count) => `w${count}`).join(' ');
/** The answer in chunks that take six seconds. */
const SLOW_MODEL = 'm@slow-chunks:100';
const NODE_MODEL = 'tiny';
// Each process allows 60 requests per minute and key, which the manifests do not change.
const KEYS = fullSize(80, { small: 12 });
const CLIENTS = 4;
/** How many requests are served before and after a gateway is killed. */
const SERVED = { before: fullSize(40, { small: 16 }), after: fullSize(20, { small: 8 }) };
const ROLLING = {
  clients: fullSize(CLIENTS, { small: 1 }),
  /** How many replicas of each app are restarted, one after the other. */
  replicas: fullSize(2, { small: 1 }),
  chatsMin: fullSize(50, { small: 10 }),
};
const FREE_TIER_RPM = 10;

const pods: Readonly<Record<'gateway' | 'rpc' | 'video-worker' | 'agent-tunnel', TestProcess[]>> = {
  gateway: [],
  rpc: [],
  'video-worker': [],
  'agent-tunnel': [],
};
let installation: Installation;
const closing: RunningChatUpstream[] = [];
let migration: { readonly status: number; readonly output: string };
let account: TestAccount;
/** Registered first, without the admin token. */
let stranger: TestAccount;
let keys: readonly string[] = [];
let keysUsed = 0;

async function start(app: keyof typeof pods): Promise<TestProcess> {
  const started = await installation.start(app);
  pods[app].push(started);
  return started;
}

const pod = (app: keyof typeof pods, index: number): TestProcess => {
  const found = pods[app][index];
  if (found === undefined) throw new Error(`${app} has no such pod`);
  return found;
};

beforeAll(async () => {
  installation = await openInstallation(SERVERS);
  const upstream = await startChatUpstream({
    models: [MODEL, SLOW_MODEL],
    answer: () => ANSWER,
    keepRequests: 0,
  });
  closing.push(upstream);
  const waiting = Promise.all((['gateway', 'rpc'] as const).map(start));
  // They wait for the migration; the result is awaited below.
  waiting.catch(() => undefined);
  migration = await installation.migrate();
  if (migration.status !== 0) throw new Error(`the Job failed: ${migration.output}`);
  await waiting;
  await Promise.all((['gateway', 'rpc', 'video-worker', 'agent-tunnel'] as const).map(start));
  stranger = await register(pod('rpc', 0).url, 'stranger');
  account = await register(pod('rpc', 0).url, 'account', installation.adminToken);
  await setTier(account, 'enterprise');
  await addBackend(pod('gateway', 0), upstream);
  keys = await Promise.all(Array.from({ length: KEYS }, () => createKey(account)));
  for (const gateway of pods.gateway)
    await waitUntil(async () => (await chat(gateway)).status === 200);
});
afterAll(async () => {
  await installation.close();
  await Promise.all(closing.map((upstream) => upstream.close()));
});

const key = (): string => keys[(keysUsed += 1) % keys.length] ?? '';
const chat = (gateway: { readonly url: string }, model = MODEL): Promise<ChatResult> =>
  postChat(gateway.url, key(), { model });

const setTier = (owner: TestAccount, tier: string): Promise<unknown> =>
  callAs(
    pod('rpc', 0).url,
    'billing.plan.set',
    { user_email: owner.email, tier },
    installation.adminToken,
  );

async function createKey(owner: TestAccount): Promise<string> {
  const created = await owner.call<{ key: string }>(pod('rpc', 0).url, 'keys.create', {
    name: 'k',
  });
  return created.key;
}

async function addBackend(gateway: TestProcess, { url }: RunningChatUpstream): Promise<void> {
  const { status } = await fetch(`${gateway.url}/api/admin/backends`, {
    method: 'POST',
    headers: { authorization: `Bearer ${installation.adminToken}` },
    body: JSON.stringify({ type: 'external', name: url, url }),
  });
  expect(status).toBe(200);
}

/** Waits until every response is recorded, and returns those that are recorded more than once. */
async function recordedMoreThanOnce(answers: readonly ChatResult[]): Promise<readonly string[]> {
  const refs = answers.map(({ ref }) => ref);
  let rows: readonly { ref_id: string; times: number }[] = [];
  await waitUntil(
    async () => {
      rows = await installation.stores.query(
        'SELECT ref_id, count(*)::int AS times FROM usage_records WHERE ref_id = ANY($1) GROUP BY ref_id',
        [refs],
      );
      return rows.length === refs.length;
    },
    { what: `${refs.length} requests are recorded` },
  );
  return rows.flatMap(({ ref_id, times }) => (times === 1 ? [] : [ref_id]));
}

test('the account with the admin token is the platform admin, not the first account', async () => {
  const { url } = pod('rpc', 1);
  expect(await stranger.call(url, 'auth.me')).toMatchObject({ is_admin: false });
  expect(await account.call(url, 'auth.me')).toMatchObject({ is_admin: true });
});

test('the Job migrates an empty database while the pods wait for it, and has nothing to do later', async () => {
  expect(migration.output).toMatch(/^The database was migrated: /);
  expect(migration.status).toBe(0);
  const again = await installation.migrate();
  expect(again).toEqual({ status: 0, output: 'The database is up to date.' });
});

test.each(['gateway', 'rpc', 'video-worker', 'agent-tunnel'] as const)(
  '%s reports its stores and exposes its metrics',
  async (app) => {
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(`${pod(app, 0).url}${path}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        status: 'ok',
        checks: { postgres: 'ok', redis: 'ok' },
      });
    }
    const metrics = await fetch(`${pod(app, 0).url}/metrics`);
    expect(await metrics.text()).toContain('process_resident_memory_bytes');
  },
);

test('the gateway has the files of its API documentation', async () => {
  const response = await fetch(`${pod('gateway', 0).url}/docs/viewer/swagger-ui-bundle.js`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toContain('javascript');
});

test('the servers pass the health check of their images, which is the same for all', async () => {
  const checks = SERVERS.map((app) => JSON.stringify(imageOf(app).healthCheck));
  expect(new Set(checks).size).toBe(1);
  const [program = '', ...args] = imageOf('gateway').healthCheck ?? [];
  expect(program).toBe('node');
  const env = { SERVICE_PORT: String(pod('gateway', 0).port) };
  await promisify(execFile)(process.execPath, args, { env });
});

test('a request served by a gateway is recorded by the worker and listed by rpc', async () => {
  const { ref, status } = await chat(pod('gateway', 1));
  expect(status).toBe(200);
  await waitUntil(
    async () => {
      const { records } = await account.call<{ records: readonly { ref_id: string | null }[] }>(
        pod('rpc', 1).url,
        'usage.list',
      );
      return records.some(({ ref_id }) => ref_id === ref);
    },
    { what: 'the record of the request' },
  );
});

test('a backend that is added on one gateway serves on the other', async () => {
  const added = await startChatUpstream({ models: ['m-one'] });
  closing.push(added);
  await addBackend(pod('gateway', 0), added);
  await waitUntil(async () => (await chat(pod('gateway', 1), 'm-one')).status === 200);
});

test('a key that is revoked on one rpc is rejected by both gateways on the next request', async () => {
  const { key: revoked, id } = await account.call<{ key: string; id: string }>(
    pod('rpc', 0).url,
    'keys.create',
    { name: 'revoked' },
  );
  const statuses = async (): Promise<readonly number[]> => {
    const answers = await Promise.all(
      pods.gateway.map(({ url }) => postChat(url, revoked, { model: MODEL })),
    );
    return answers.map(({ status }) => status);
  };
  expect(await statuses()).toEqual([200, 200]);
  await account.call(pod('rpc', 1).url, 'keys.revoke', { key_id: id });
  expect(await statuses()).toEqual([401, 401]);
});

test('a stream that is started on one rpc arrives completely on the event stream of the other', async () => {
  for (const [from, to] of [
    [0, 1],
    [1, 0],
  ] as const) {
    const streamId = await sendChat(pod('rpc', from), MODEL);
    const stream = await followChatStream(pod('rpc', to).url, streamId);
    expect(await stream.text).toBe(ANSWER);
  }
});

async function sendChat(rpc: TestProcess, model: string): Promise<string> {
  const messages = [{ role: 'user', content: 'Hi' }];
  const sent = await account.call<{ stream_id: string }>(rpc.url, 'chat.send', { model, messages });
  return sent.stream_id;
}

test('the limit of a tier is exact across gateways', async () => {
  const poor = await register(pod('rpc', 1).url, 'poor');
  const only = await createKey(poor);
  const answers = await Promise.all(
    Array.from({ length: FREE_TIER_RPM * 3 }, (_, index) =>
      postChat(pod('gateway', index % 2).url, only, { model: MODEL }),
    ),
  );
  const count = (status: number): number =>
    answers.filter((answer) => answer.status === status).length;
  expect([count(200), count(429)]).toEqual([FREE_TIER_RPM, FREE_TIER_RPM * 2]);
});

test('a gateway that is killed under load loses no usage of served requests', async () => {
  const [dying, other] = [pod('gateway', 0), pod('gateway', 1)];
  let turn = 0;
  const load = startLoad(CLIENTS, () => chat((turn += 1) % 2 === 0 ? dying : other));
  const served = (): readonly ChatResult[] => load.outcomes.filter(({ status }) => status === 200);
  await waitUntil(() => served().length >= SERVED.before, { what: 'load' });
  await dying.kill();
  const before = served().length;
  await waitUntil(() => served().length >= before + SERVED.after, { what: 'load' });
  await load.stop();
  expect(load.outcomes.length).toBeGreaterThan(served().length);
  expect(await recordedMoreThanOnce(served())).toEqual([]);
  pods.gateway.shift();
});

describe('a rolling restart of each app in turn, under load', () => {
  const services: Record<string, Service> = {};
  const chats: ChatResult[] = [];
  const nodeChats: ChatResult[] = [];
  const calls: string[] = [];
  const streams: OpenStream[] = [];
  const exits: number[] = [];
  let node: GpuNode;

  beforeAll(async () => {
    while (pods.gateway.length < ROLLING.replicas) await start('gateway');
    const [gateway, rpc, tunnel] = [
      await openService('gateway'),
      await openService('rpc'),
      await openService('agent-tunnel'),
    ];
    await deployToNode(tunnel, gateway);
    const loads = [
      startLoad(ROLLING.clients, async () => void chats.push(await chat(gateway))),
      startLoad(1, async () => void nodeChats.push(await chat(gateway, NODE_MODEL))),
      startLoad(1, async () => void calls.push(await listKeys(rpc))),
    ];
    try {
      const stopped: Promise<void>[] = [];
      for (const app of ['gateway', 'rpc', 'video-worker', 'agent-tunnel'] as const)
        stopped.push(...(await restart(app)));
      await Promise.all(stopped);
    } finally {
      await Promise.all(loads.map((load) => load.stop()));
    }
  });
  afterAll(async () => {
    await node.stop();
    await Promise.all(Object.values(services).map((service) => service.close()));
  });

  async function openService(app: keyof typeof pods): Promise<Service> {
    const service = await startService('/readyz');
    services[app] = service;
    for (const one of pods[app]) await service.add(one);
    return service;
  }

  async function deployToNode(tunnel: Service, gateway: Service): Promise<void> {
    const { url } = pod('rpc', 0);
    const registered = await account.call<{ agent_id: string; token: string }>(
      url,
      'agents.register',
      { machine_name: 'node', version: '1', hosts: ['127.0.0.2'] },
    );
    node = await startGpuNode(tunnel.url, registered.token);
    const { agent_id } = registered;
    await waitUntil(async () => {
      await account.call(url, 'agents.deploy', { agent_id, model_id: NODE_MODEL });
      return true;
    });
    await waitUntil(async () => (await chat(gateway, NODE_MODEL)).status === 200);
  }

  const listKeys = (rpc: Service): Promise<string> =>
    account.call<readonly unknown[]>(rpc.url, 'keys.list').then(
      (listed) => (listed.length >= KEYS ? 'listed' : 'incomplete'),
      (error: unknown) => String(error),
    );

  /** Restarts like a Deployment: starts a new pod, then stops an old one. Returns the pods that are still stopping. */
  async function restart(app: keyof typeof pods): Promise<readonly Promise<void>[]> {
    const stopping: Promise<void>[] = [];
    for (const old of pods[app].splice(0, ROLLING.replicas)) {
      const replacement = await start(app);
      await services[app]?.add(replacement);
      streams.push(...(await startStreams(app, old, replacement)));
      stopping.push(stop(old));
    }
    return stopping;
  }

  /** Starts streams on a pod; one of the event streams is read from another pod. */
  async function startStreams(
    app: keyof typeof pods,
    old: TestProcess,
    replacement: TestProcess,
  ): Promise<readonly OpenStream[]> {
    if (app === 'gateway') return [await followChat(old.url, key(), SLOW_MODEL)];
    if (app !== 'rpc') return [];
    return Promise.all(
      [old, replacement].map(async ({ url }) =>
        followChatStream(url, await sendChat(old, SLOW_MODEL)),
      ),
    );
  }

  async function stop(old: TestProcess): Promise<void> {
    old.signal('SIGTERM');
    exits.push(await old.exited);
  }

  test('fails no request that is not a stream', () => {
    expect(chats.filter(({ status }) => status !== 200)).toEqual([]);
    expect(nodeChats.filter(({ status }) => status !== 200)).toEqual([]);
    expect(new Set(calls)).toEqual(new Set(['listed']));
    expect(chats.length).toBeGreaterThan(ROLLING.chatsMin);
    for (const { length } of [nodeChats, calls]) expect(length).toBeGreaterThan(10);
  });

  test('lets running streams finish', async () => {
    const texts = await Promise.all(streams.map(({ text }) => text));
    expect(texts).toEqual(Array.from({ length: ROLLING.replicas * 3 }, () => ANSWER));
  });

  test('records each request once', async () => {
    expect(await recordedMoreThanOnce([...chats, ...nodeChats])).toEqual([]);
  });

  test('stops every pod with status 0', () => {
    expect(exits).toEqual(Array.from({ length: ROLLING.replicas * 2 + 2 }, () => 0));
  });
});
