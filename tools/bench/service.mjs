// Our service as in a deployment: real stores, one process per app, keys and metering, but no rate limit.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { familyOf, fetchAnew, importBuild } from './processes.mjs';

const OUR_CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const RATE_LIMIT_LIFTED = '100000000';
const TOKEN_TTL_SECS = '7200';
const ADMIN_TOKEN = randomBytes(24).toString('base64url');
const RECORDED_WITHIN_MS = 60_000;
const RECORDED_INTERVAL_MS = 100;

/** The registered models of the upstream. */
export const MODELS = ['bench', 'bench-10-0', 'bench-50-20', 'bench-30-100', 'bench-100-100'];

/** The kinds of backends whose streams are translated, or passed in another API; their models have the kind as a prefix. */
const nativeBackends = (upstreamPort) =>
  [
    { kind: 'anthropic', type: 'anthropic' },
    { kind: 'gemini', type: 'gemini' },
    { kind: 'responses', type: 'external', dialects: ['responses'] },
  ].map(({ kind, ...registration }) => ({
    ...registration,
    name: kind,
    url: `http://127.0.0.1:${upstreamPort}/native/v1`,
    models: ['10-0', '50-20'].map((rate) => `${kind}-bench-${rate}`),
  }));

/**
 * Starts the stores and the recorder, registers a user, a key, the upstream and other backends. Gateways and other apps are restarted
 * for each workload, so that workloads do not affect each other. A basic service has no other backends and no key with a cache:
 * older checkouts do not know them.
 */
export async function startService({
  processes,
  folder,
  options,
  cores,
  upstreamPort,
  backends = [],
  isRecorderLast = true,
  isBasic = false,
  checkout = OUR_CHECKOUT,
}) {
  const stores = await startStores({ folder, options });
  const environment = {
    ...environmentIn(folder),
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    SERVICE_REDIS_PREFIX: `bench-${process.pid}:`,
  };

  let started = 0;
  const startApp = (app, { on, workload, node = options.node } = {}) =>
    processes.start({
      name: app,
      cores: on,
      outputFile: join(folder, `${app}-${(started += 1)}.log`),
      command: () => [
        node,
        ...profileFlags(options, workload),
        join(checkout, 'apps', app, 'dist', 'main.js'),
      ],
      environment: (port) => ({ ...environment, SERVICE_PORT: String(port) }),
    });

  try {
    const account = await setUp({ startApp, cores, upstreamPort, backends, isBasic });
    const recorder = await startApp('video-worker', { on: cores?.load });
    const { databasePid } = stores;
    const recorderYields = () => {
      const databasePids = databasePid === undefined ? [] : familyOf(databasePid);
      if (isRecorderLast) yieldToOthers([recorder.pid, ...databasePids]);
    };
    recorderYields();
    return {
      ...stores,
      ...account,
      recorder,
      startApp,
      recorded: () => recorded(recorder.port),
      yieldToOthers: recorderYields,
    };
  } catch (error) {
    await stores.stop();
    throw error;
  }
}

const environmentIn = (folder) => ({
  NODE_ENV: 'production',
  SERVICE_DATA_DIR: folder,
  SERVICE_JWT_SECRET: randomBytes(48).toString('base64url'),
  SERVICE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
  SERVICE_API_RATE_LIMIT_RPM: RATE_LIMIT_LIFTED,
  SERVICE_ACCESS_TOKEN_TTL_SECS: TOKEN_TTL_SECS,
  SERVICE_DEMO: 'false',
});

/**
 * In a deployment the recorder and its database run on other machines. Here they share the core of the load generator with a low
 * priority, and the benchmark waits for them after each round. Some kernels share cores between sessions first, and every process of
 * Postgres has its own session, so the priority of these sessions is lowered too.
 */
function yieldToOthers(pids) {
  for (const pid of pids) {
    try {
      setPriority(pid, constants.priority.PRIORITY_LOW);
      writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW));
    } catch {
      // It has ended meanwhile, or this kernel does not support it.
    }
  }
}

async function isRecorded(port) {
  try {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return /^service_journal_lag 0$/m.test(text);
  } catch {
    // A pooled connection of the last round may have been closed.
    return false;
  }
}

/** Waits until all usage is recorded; returns the milliseconds. */
async function recorded(port) {
  const startedAt = performance.now();
  while (performance.now() - startedAt < RECORDED_WITHIN_MS) {
    if (await isRecorded(port)) return performance.now() - startedAt;
    await sleep(RECORDED_INTERVAL_MS);
  }
  throw new Error('the recorder does not catch up');
}

/** With `--profile`, the measured processes write a CPU profile when they end. */
const profileFlags = ({ profile }, workload) =>
  profile && workload !== undefined
    ? [
        '--cpu-prof',
        `--cpu-prof-dir=${fileURLToPath(new URL(`profiles/${workload}`, import.meta.url))}`,
      ]
    : [];

/** Starts the stores that the options do not name. */
export async function startStores({ folder, options }) {
  const { findRedisServer, startPostgres, startRedis } = await importBuild('embedded');
  const { silentLog: log } = await importBuild('kernel');
  const binary = options.redis === undefined ? await findRedisServer(process.env.PATH) : undefined;
  if (options.redis === undefined && binary === undefined) {
    throw new Error('the benchmark needs a redis-server of version 7 or newer, or --redis URL');
  }
  const started = [];
  const embedded = async (start) => {
    const store = await start();
    started.push(store);
    return store;
  };
  const database =
    options.database === undefined
      ? await embedded(() => startPostgres({ dataDir: folder, log }))
      : { url: options.database };
  const redis =
    options.redis === undefined
      ? await embedded(() => startRedis({ dataDir: folder, log, binary }))
      : { url: options.redis };
  return {
    databaseUrl: database.url,
    databasePid: database.pid,
    redisUrl: redis.url,
    storePids: () => started.map(({ pid }) => pid),
    stop: () => Promise.all(started.map((store) => store.stop())),
  };
}

async function setUp({ startApp, cores, upstreamPort, backends, isBasic }) {
  const rpc = await startApp('rpc', { on: cores?.load });
  const account = await addAccount(rpc.port, isBasic);
  await rpc.stop();
  const gateway = await startApp('gateway', { on: cores?.load });
  const native = isBasic ? [] : nativeBackends(upstreamPort);
  await addBackends(gateway.port, [...native, ...backends], upstreamPort);
  await gateway.stop();
  return account;
}

/** Registers a user with keys. */
async function addAccount(port, isBasic) {
  const { access_token: accessToken } = await rpcCall(port, 'auth.register', {
    email: `bench-${randomBytes(6).toString('hex')}@example.com`,
    password: randomBytes(12).toString('hex'),
  });
  // High quotas, so that they are checked for every request but never reached.
  const quotas = { monthly_usd_quota: 1e9, monthly_token_quota: 1e15, rpm: null };
  await rpcCall(port, 'billing.tiers.set', { name: 'free', ...quotas }, ADMIN_TOKEN);
  const createKey = (params) => rpcCall(port, 'keys.create', params, accessToken);
  const { key } = await createKey({ name: 'bench' });
  const { key: cachedKey } = isBasic
    ? {}
    : await createKey({ name: 'cached', cache: { ttl_secs: 86_400 } });
  return { accessToken, key, cachedKey };
}

/** Registers the upstream, and other backends. */
async function addBackends(port, others, upstreamPort) {
  const url = `http://127.0.0.1:${upstreamPort}/v1`;
  const bench = { type: 'external', name: 'bench', url, models: MODELS };
  for (const backend of [bench, ...others]) {
    await post(`http://127.0.0.1:${port}/api/admin/backends`, backend, ADMIN_TOKEN);
  }
}

async function rpcCall(port, method, params, token) {
  const message = { jsonrpc: '2.0', id: 1, method, params };
  const { result, error } = await post(`http://127.0.0.1:${port}/api/rpc`, message, token);
  if (error !== undefined) throw new Error(`${method} failed: ${error.message}`);
  return result;
}

/** Posts JSON and returns the JSON of the response; throws what the service said if it refused. */
export async function post(url, body, token) {
  const response = await fetchAnew(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text}`);
  return JSON.parse(text);
}
