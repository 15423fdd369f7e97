import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@model-gateway/db';
import { newId, silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  fullSize,
  openStoreLine,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type StoreLine,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import {
  countRecorded,
  expectConserved,
  expectRowsOf,
  expectTokensOf,
  readBooks,
  type MoneyBooks,
  type UsageRow,
} from './money-books.ts';
import {
  isSurelyServed,
  leaveUnanswered,
  refsOf,
  runLoad,
  startMoneyUpstreams,
  type LoadRequest,
  type MoneyUpstreams,
} from './money-load.ts';
import { createMoneyScene, keysOn, type MoneyScene } from './money-scene.ts';
import { createServiceProcesses, type ServiceProcesses } from '../service-processes.ts';

const CLIENTS = fullSize(64, { small: 16 });
const REQUESTS_EACH = fullSize(25, { small: 8 });
const SEED = 20_261_115;
/** So few that a busy machine serves them within a minute. */
const RPM = 3;

let database: TestDatabase;
let dataDir = '';
let postgresLine: StoreLine;
let redisLine: StoreLine;
let simple: RunningChatUpstream;
let upstreams: MoneyUpstreams;
let scene: MoneyScene;
let service: ServiceProcesses;
let gateways: readonly TestProcess[];

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-money-'));
  postgresLine = await openStoreLine(database.url);
  redisLine = await openStoreLine(testRedisUrl());
  simple = await startChatUpstream({ models: ['simple'] });
  upstreams = await startMoneyUpstreams();
  scene = await createMoneyScene(database.url, dataDir);
  service = createServiceProcesses({
    databaseUrl: postgresLine.url,
    redisUrl: redisLine.url,
    redisPrefix: uniquePrefix(),
    dataDir,
  });
  const [left, right] = await Promise.all([
    service.start('gateway'),
    service.start('gateway'),
    // Two of them, so that they run concurrently.
    service.start('video-worker'),
    service.start('video-worker'),
  ]);
  gateways = [left, right];
  await service.register(left, { exact: upstreams.exact, hurried: upstreams.hurried, simple });
});

afterAll(async () => {
  await service.stop();
  await scene.close();
  await Promise.all([postgresLine.close(), redisLine.close(), upstreams.close(), simple.close()]);
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

test(`${CLIENTS} clients on two gateways, with disconnects: every point is accounted for by the rows, and the rows match what was served`, async () => {
  const [key] = scene.keys;
  if (key === undefined) throw new Error('there are no keys');
  const left = await leaveUnanswered(upstreams, { key, url: gateways[0]?.url ?? '' });
  const sent = [left, ...(await load())];
  const certain = sent.filter(isSurelyServed);
  await recorded(refsOf([left, ...certain]));
  const books = await readBooks(database.url);
  expectConserved(books, scene);
  expectRowsOf(books, sent);
  expectTokensOf(books, certain);
  await expectServed(books, sent);

  const { rows } = books;
  const counts = {
    sent: sent.length,
    complete: sent.filter(({ outcome }) => outcome.isComplete).length,
    rows: rows.length,
    paidWithPoints: rows.filter(({ points }) => points !== null).length,
    points: sum(rows.map(({ points }) => points ?? 0)),
    tokens: sum(rows.map(({ completionTokens }) => completionTokens)),
  };
  for (const count of Object.values(counts)) expect(count).toBeGreaterThan(0);
});

async function load(): Promise<readonly LoadRequest[]> {
  let count = 0;
  const sent = await runLoad({
    clients: CLIENTS,
    keys: scene.keys,
    seed: SEED,
    url: (random) => gateways[Math.floor(random() * gateways.length)]?.url ?? '',
    async shouldContinue() {
      count += 1;
      // Points come in while others go out.
      if (count % 50 === 0) await scene.fund(count);
      return count <= CLIENTS * (REQUESTS_EACH - 1);
    },
  });
  return sent;
}

/** The rows of a backend add up to what it served; where clients left at any moment, to no more than that. */
async function expectServed({ rows }: MoneyBooks, sent: readonly LoadRequest[]): Promise<void> {
  const { exact, hurried } = upstreams;
  const isHurried = ({ model }: UsageRow): boolean => model.includes('hurried');
  // The upstream never answers these; their clients left, and pay for the prompt.
  const unanswered = rows.filter(({ model }) => model.endsWith('@hang'));
  expect(unanswered).toContainEqual(expect.objectContaining({ ref: sent[0]?.ref }));
  expect(unanswered.filter((row) => row.completionTokens > 0)).toEqual([]);
  const exactRows = rows.filter((row) => !isHurried(row) && !unanswered.includes(row));
  await exact.until(() => exact.totals.requests >= exactRows.length);
  const { requests, promptTokens, completionTokens } = exact.totals;
  expect({
    requests: exactRows.length,
    promptTokens: sum(exactRows.map((row) => row.promptTokens)),
    completionTokens: sum(exactRows.map((row) => row.completionTokens)),
  }).toEqual({ requests, promptTokens, completionTokens });
  const billed = sum(rows.filter(isHurried).map((row) => row.completionTokens));
  await hurried.until(() => hurried.totals.completionTokens >= billed);
  const arrived = sent
    .filter(({ habit }) => habit === 'leaves')
    .map(({ outcome }) => outcome.pieces);
  expect(billed).toBeGreaterThanOrEqual(sum(arrived));
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, next) => total + next, 0);

/** A key of a new user, whose tier has few requests per minute. */
async function newKey(): Promise<string> {
  const direct = createDatabase({ databaseUrl: database.url, log: silentLog });
  const userId = newId();
  const email = `${userId}@example.com`;
  await direct.users.create({ id: userId, email, name: '', passwordHash: 'not used' });
  await direct.plans.saveTier('few', { monthlyUsdQuota: null, monthlyTokenQuota: null, rpm: RPM });
  await direct.plans.assign(email, 'few');
  const { secret } = await keysOn(direct, dataDir).create({ userId, name: 'key' });
  await direct.close();
  return secret;
}

async function ask(key: string, ref: string): Promise<number> {
  const response = await fetch(`${gateways[0]?.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-service-ref': ref },
    body: JSON.stringify({ model: 'simple', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return response.status;
}

const recorded = (refs: readonly string[]): Promise<void> =>
  waitUntil(async () => (await countRecorded(database.url, refs)) === refs.length, {
    what: `${refs.length} requests are recorded`,
  });

afterEach(() => {
  postgresLine.restore();
  redisLine.restore();
});

test('during an outage of Postgres requests are served, and their rows appear when it is back', async () => {
  const key = await newKey();
  const before = newId();
  expect(await ask(key, before)).toBe(200);
  await recorded([before]);
  postgresLine.cut();
  const sent = await askTimes(key, RPM + 1);
  const served = refsWith(sent, 200);
  // The first request may have left the minute since.
  expect([RPM - 1, RPM]).toContain(served.length);
  expect(sent.at(-1)?.status).toBe(429);
  expect(await countRecorded(database.url, served)).toBe(0);
  postgresLine.restore();
  await recorded(served);
});

test('during an outage of Redis requests are served within limits per process, and their rows appear when it is back', async () => {
  const key = await newKey();
  redisLine.cut();
  const sent = await askTimes(key, RPM + 1);
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  redisLine.restore();
  await recorded(refsWith(sent, 200));
});

interface Sent {
  readonly ref: string;
  readonly status: number;
}

async function askTimes(key: string, times: number): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  for (let count = 0; count < times; count += 1) {
    const ref = newId();
    sent.push({ ref, status: await ask(key, ref) });
  }
  return sent;
}

const refsWith = (sent: readonly Sent[], status: number): readonly string[] =>
  sent.flatMap((one) => (one.status === status ? [one.ref] : []));
