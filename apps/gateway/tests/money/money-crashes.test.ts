import { join } from 'node:path';
import { migrateDatabase } from '@model-gateway/db';
import {
  findRedisServer,
  startPostgres,
  startRedis,
  type EmbeddedStore,
} from '@model-gateway/embedded';
import { silentLog } from '@model-gateway/kernel';
import {
  fullSize,
  preparedDataDir,
  waitUntil,
  type TemporaryFolder,
  type TestProcess,
} from '@model-gateway/testkit';
import {
  countRecorded,
  expectConserved,
  expectRowsOf,
  expectTokensOf,
  readBooks,
} from './money-books.ts';
import {
  refsOf,
  runLoad,
  startMoneyUpstreams,
  type LoadRequest,
  type MoneyUpstreams,
} from './money-load.ts';
import { createMoneyScene, type MoneyScene } from './money-scene.ts';
import { createServiceProcesses, type ServiceProcesses } from '../service-processes.ts';

const CLIENTS = fullSize(64, { small: 6 });
const SEED = 5_111_926;
/** Requests that must be served between two crashes. */
const CALM_REQUESTS = fullSize(200, { small: 16 });
/** The last two kill each kind of process once. */
const CRASHES = fullSize(6, { small: 2 });
const THINK_MS_MAX = fullSize(300, { small: 900 });
/** Waits end with what they wait for; a busy machine takes its time. */
const RECOVERY_MS = 180_000;

let folder: TemporaryFolder;
let postgres: EmbeddedStore;
let redis: EmbeddedStore;
let upstreams: MoneyUpstreams;
let scene: MoneyScene;
let service: ServiceProcesses;
let gateways: TestProcess[] = [];
let recorder: TestProcess;

beforeAll(async () => {
  const prepared = await preparedDataDir();
  folder = prepared;
  const dataDir = folder.path;
  postgres = await startPostgres({ dataDir, log: silentLog });
  redis = await startRedis({ dataDir, log: silentLog, binary: await redisServer() });
  if (!prepared.isMigrated) await migrateDatabase({ databaseUrl: postgres.url, log: silentLog });
  upstreams = await startMoneyUpstreams();
  scene = await createMoneyScene(postgres.url, dataDir);
  service = createServiceProcesses({
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    redisPrefix: 'crashes:',
    dataDir: join(dataDir, 'service'),
  });
  const [left, right, third] = await Promise.all([
    service.start('gateway'),
    service.start('gateway'),
    service.start('video-worker'),
  ]);
  gateways = [left, right];
  recorder = third;
  await service.register(left, { exact: upstreams.exact, hurried: upstreams.hurried });
});

afterAll(async () => {
  await service.stop();
  await scene.close();
  await upstreams.close();
  await redis.stop();
  await postgres.stop();
  await folder.remove();
});

async function redisServer(): Promise<string> {
  const binary = await findRedisServer(process.env['PATH']);
  if (binary === undefined) throw new Error('this test needs a redis-server');
  return binary;
}

test('with any process killed under load, every served request is recorded once and paid once', async () => {
  const sent: LoadRequest[] = [];
  let isOver = false;
  const load = runLoad({
    clients: CLIENTS,
    keys: scene.keys,
    seed: SEED,
    thinkMsMax: THINK_MS_MAX,
    url: (random) => gateways[Math.floor(random() * gateways.length)]?.url ?? '',
    shouldContinue(one) {
      sent.push(one);
      return !isOver;
    },
  });
  const deaths = await crashEverything(() => completeOf(sent).length).finally(() => {
    isOver = true;
  });
  await load;

  const complete = completeOf(sent);
  await waitUntil(
    async () => (await countRecorded(postgres.url, refsOf(complete))) === complete.length,
    { timeoutMs: RECOVERY_MS, what: `${complete.length} requests are recorded` },
  );
  const books = await readBooks(postgres.url);
  const { rows } = books;
  const counts = {
    deaths,
    sent: sent.length,
    complete: complete.length,
    failed: sent.filter(({ outcome }) => outcome.status === undefined).length,
    rows: rows.length,
    rowsOfOthers: rows.length - complete.length,
    paidWithPoints: rows.filter(({ points }) => points !== null).length,
    points: rows.reduce((total, { points }) => total + (points ?? 0), 0),
  };
  expectConserved(books, scene);
  expectRowsOf(books, sent);
  expectTokensOf(books, complete);
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
});

const completeOf = (sent: readonly LoadRequest[]): readonly LoadRequest[] =>
  sent.filter(({ outcome }) => outcome.isComplete);

/** Kills every process, some together, with pauses and top-ups in between. Returns the number of kills. */
async function crashEverything(completed: () => number): Promise<number> {
  const crashes: readonly (() => Promise<void>)[] = [
    killGateway,
    killRecorder,
    () => killStore(redis),
    () => killStore(postgres),
    async () => {
      await Promise.all([killStore(redis), dropGateway()]);
      gateways.push(await service.start('gateway'));
    },
    async () => {
      await Promise.all([recorder.kill(), killStore(postgres)]);
      recorder = await service.start('video-worker');
    },
  ];
  for (const crash of crashes.slice(-CRASHES)) {
    const before = completed();
    await waitUntil(() => completed() >= before + CALM_REQUESTS, {
      timeoutMs: RECOVERY_MS,
      what: 'calm',
    });
    await Promise.all([crash(), scene.fund(1_000)]);
  }
  return CRASHES;
}

/** Clients send no new requests to it before it is killed; requests in progress fail. */
async function dropGateway(): Promise<void> {
  const [dying, ...others] = gateways;
  gateways = others;
  await dying?.kill();
}

async function killGateway(): Promise<void> {
  await dropGateway();
  gateways.push(await service.start('gateway'));
}

async function killRecorder(): Promise<void> {
  await recorder.kill();
  recorder = await service.start('video-worker');
}

/** Its supervisor starts it again, with its files. */
async function killStore(store: EmbeddedStore): Promise<void> {
  const { pid } = store;
  process.kill(pid, 'SIGKILL');
  await waitUntil(() => store.pid !== pid, { timeoutMs: RECOVERY_MS, what: 'the store is back' });
}
