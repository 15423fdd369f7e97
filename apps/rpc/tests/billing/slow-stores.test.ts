import type { Bus } from '@model-gateway/bus';
import { createServiceRuntime } from '@model-gateway/service';
import {
  openStoreLine,
  rpcCall,
  usageEvent,
  waitUntil,
  type StoreLine,
} from '@model-gateway/testkit';
import {
  startCloudVideo,
  startRealtimeApi,
  type RunningCloudVideo,
  type RunningRealtimeApi,
} from '@model-gateway/testkit/upstreams';
import { createRpc } from '../../src/app.ts';
import { readRpcConfig } from '../../src/config.ts';
import { startGatedUpstream, type GatedUpstream } from '../chat/gated-upstream.ts';
import { startChatScene, type ChatScene, type TestUser } from '../chat/chat-scene.ts';
import { startRealtimeTalk, type RealtimeTalk } from '../realtime/realtime-scene.ts';

const LATE_MS = 1_300;
const RESERVED = -32_006;
const INTERNAL_ERROR = -32_603;
const PARAMS = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 5_000 };

let lines: StoreLine[];
let scene: ChatScene;
let upstream: GatedUpstream;
let video: RunningCloudVideo;
let realtime: RunningRealtimeApi;
let buses: readonly Bus[];
let users = 0;
/** Two processes, each with a connection of its own to Redis. */
let urls: readonly [string, string];

beforeAll(async () => {
  lines = [];
  const reach = async (storeUrl: string): Promise<string> => {
    const line = await openStoreLine(storeUrl);
    lines.push(line);
    return line.url;
  };
  scene = await startChatScene({}, {}, { reach });
  upstream = await startGatedUpstream('m');
  video = await startCloudVideo();
  realtime = await startRealtimeApi({ models: ['old-realtime'], answer: () => 'one two' });
  await scene.addBackend('up', upstream.url);
  await scene.addBackend('cloud', video.url, 'cloud-video', ['v-1']);
  await scene.addBackend('rt', realtime.url.replace('ws', 'http'));
  urls = [scene.url, await servePeer()];
});
afterEach(async () => {
  for (const line of lines) line.delayAnswers(0);
  await waitUntil(async () => buses.every((bus) => bus.mode() === 'redis'), { what: 'Redis' });
});
afterAll(async () => {
  upstream.open();
  await scene.test.close();
  await Promise.all([upstream.close(), video.close(), realtime.close()]);
  await Promise.all(lines.map((line) => line.close()));
});

async function servePeer(): Promise<string> {
  const context = await scene.test.openPeer();
  buses = [scene.test.context.bus, context.bus];
  const config = readRpcConfig({
    DATABASE_URL: 'postgres://unused',
    REDIS_URL: 'redis://unused',
  });
  const runtime = createServiceRuntime(config, context);
  const rpc = createRpc(config, context, { runtime });
  const url = await scene.test.serve({
    ...rpc,
    start: async () => {
      await runtime.start();
      await rpc.start();
    },
    stop: async () => {
      await rpc.stop();
      await runtime.stop();
    },
  });
  await waitUntil(async () => runtime.router.canServe('m'), {
    what: 'the model in the other process',
  });
  return url;
}

const postgres = (): StoreLine => lineAt(0);
const redisLines = (): readonly StoreLine[] => lines.slice(1);
function lineAt(place: number): StoreLine {
  const line = lines[place];
  if (line === undefined) throw new Error(`there is no line ${place}`);
  return line;
}

/** A user with a quota of which one token and one cent are left; Redis does not know it yet. */
async function userWithOneToken(): Promise<TestUser> {
  const { database } = scene.test.context;
  users += 1;
  const name = `user-${users}`;
  const user = await scene.createUser(name);
  const tier = { monthlyUsdQuota: 1, monthlyTokenQuota: 100, rpm: null };
  await database.plans.saveTier('small', tier);
  await database.plans.assign(`${name}@example.com`, 'small');
  const event = usageEvent(user.id, { total_tokens: 99, cost: 0.99 });
  await database.usage.record([event], { pointsPerUsd: 100 });
  return user;
}

/** How many turns each of the two processes admits, and the codes of all refusals. */
async function sendAtOnce({ token }: TestUser, count = 25) {
  const admitted = [0, 0];
  const codes = new Set<number>();
  const sending = Array.from({ length: count }, async (_, turn) => {
    const at = turn % 2;
    const { error } = await rpcCall(urls[at === 0 ? 0 : 1], 'chat.send', PARAMS, token);
    if (error === undefined) admitted[at] = (admitted[at] ?? 0) + 1;
    else codes.add(error.code);
  });
  await Promise.all(sending);
  return { admitted, total: admitted.reduce((sum, each) => sum + each), codes: [...codes] };
}

test('a quota for one admits one while Postgres takes longer than a second for each query', async () => {
  const user = await userWithOneToken();
  postgres().delayAnswers(LATE_MS);
  const { total, codes } = await sendAtOnce(user);
  expect(total).toBe(1);
  expect(codes).toContain(RESERVED);
  // Where even the tier cannot be read in time.
  expect([RESERVED, INTERNAL_ERROR]).toEqual(expect.arrayContaining(codes));
});

test('a quota for one admits one in each process while Redis is paused', async () => {
  const user = await userWithOneToken();
  for (const line of redisLines()) line.delayAnswers(Infinity);
  expect(await sendAtOnce(user)).toMatchObject({ admitted: [1, 1], codes: [RESERVED] });
});

test('a quota for one admits one in each process while Redis and Postgres are slow', async () => {
  const user = await userWithOneToken();
  for (const line of lines) line.delayAnswers(LATE_MS);
  const { admitted, codes } = await sendAtOnce(user);
  expect(Math.max(...admitted)).toBe(1);
  expect([RESERVED, INTERNAL_ERROR]).toEqual(expect.arrayContaining(codes));
});

test('a turn in flight counts in its process when Redis is lost, and in the other when Redis is back', async () => {
  const user = await userWithOneToken();
  expect(await sendAtOnce(user, 1)).toMatchObject({ admitted: [1, 0] });
  const [redis] = redisLines();
  redis?.cut();
  await waitUntil(async () => scene.test.context.bus.mode() === 'local', { what: 'no Redis' });
  const { error } = await rpcCall(urls[0], 'chat.send', PARAMS, user.token);
  expect(error).toMatchObject({ code: RESERVED });
  redis?.restore();
  await waitUntil(async () => scene.test.context.bus.mode() === 'redis', { what: 'Redis' });
  expect(await sendAtOnce(user, 4)).toMatchObject({ total: 0, codes: [RESERVED] });
});

test('a turn that began without Redis counts in the other process when Redis is back', async () => {
  const user = await userWithOneToken();
  const { bus } = scene.test.context;
  const [redis] = redisLines();
  redis?.cut();
  await waitUntil(async () => bus.mode() === 'local', { what: 'no Redis' });
  expect(await sendAtOnce(user, 1)).toMatchObject({ admitted: [1, 0] });
  redis?.restore();
  await waitUntil(async () => bus.mode() === 'redis', { what: 'Redis' });
  expect(await sendAtOnce(user, 4)).toMatchObject({ total: 0, codes: [RESERVED] });
});

test('the last known tier holds while Postgres does not answer in time', async () => {
  const user = await userWithOneToken();
  expect(await sendAtOnce(user, 2)).toMatchObject({ total: 1, codes: [RESERVED] });
  postgres().delayAnswers(6_000);
  expect(await sendAtOnce(user, 4)).toMatchObject({ total: 0, codes: [RESERVED] });
});

test('a price for one video job admits one while Postgres is slow', async () => {
  const { token } = await userWithOneToken();
  postgres().delayAnswers(LATE_MS);
  // 60 s at 0.005 USD.
  const order = { model: 'v-1', prompt: 'a cat', duration_seconds: 60 };
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, turn) =>
      rpcCall(urls[turn % 2 === 0 ? 0 : 1], 'video.create', order, token),
    ),
  );
  const codes = answers.flatMap(({ error }) => (error === undefined ? [] : [error.code]));
  expect(codes).toEqual([RESERVED, RESERVED, RESERVED]);
});

test('of realtime responses that begin at once a quota for one forwards one while Postgres is slow', async () => {
  const user = await userWithOneToken();
  const talks = await Promise.all(
    Array.from({ length: 3 }, () => startRealtimeTalk(user, urls[0], { model: 'old-realtime' })),
  );
  postgres().delayAnswers(LATE_MS);
  const heard = await Promise.all(talks.map(respond));
  const refused = heard.filter((types) => types.includes('error'));
  expect(refused).toEqual([
    ['session.created', 'error'],
    ['session.created', 'error'],
  ]);
  expect(heard.flat().filter((type) => type === 'response.done')).toHaveLength(1);
  for (const talk of talks) talk.close();
});

/** The types of the events up to the end of a response or its refusal. */
async function respond(talk: RealtimeTalk): Promise<readonly unknown[]> {
  await talk.say({ type: 'response.create' });
  const types: unknown[] = [];
  while (!['error', 'response.done'].includes(String(types.at(-1))))
    types.push((await talk.next())['type']);
  return types;
}
