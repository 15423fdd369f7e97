import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, type Database } from '@model-gateway/db';
import { newId, silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  testRedisUrl,
  uniquePrefix,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { keysOn } from './money-scene.ts';
import { createServiceProcesses, type ServiceProcesses } from './service-processes.ts';

const FREE_RPM = 10;
const GROUP_RPM = 7;

let testDatabase: TestDatabase;
let database: Database;
let dataDir = '';
let upstream: RunningChatUpstream;
let service: ServiceProcesses;
let gateways: readonly [TestProcess, TestProcess];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase({ databaseUrl: testDatabase.url, log: silentLog });
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-rpm-'));
  upstream = await startChatUpstream();
  service = createServiceProcesses({
    databaseUrl: testDatabase.url,
    redisUrl: testRedisUrl(),
    redisPrefix: uniquePrefix(),
    dataDir,
  });
  gateways = await Promise.all([service.start('gateway'), service.start('gateway')]);
  await service.register(gateways[0], { upstream });
});

afterAll(async () => {
  await service.stop();
  await upstream.close();
  await database.close();
  await testDatabase.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function newUser(): Promise<string> {
  const id = newId();
  const email = `${id}@example.com`;
  await database.users.create({ id, email, name: '', passwordHash: 'not used' });
  return id;
}

/** A key of a new user, who is on the free tier. */
async function newKey(groupId?: string): Promise<string> {
  const userId = await newUser();
  if (groupId !== undefined) await database.members.save(groupId, userId, {});
  const { secret } = await keysOn(database, dataDir).create({ userId, name: 'key', groupId });
  return secret;
}

async function newGroup(rpmCeiling: number): Promise<string> {
  const id = newId();
  await database.groups.create({ id, ownerId: await newUser(), name: 'group', description: '' });
  await database.groups.update(id, { rpmCeiling });
  return id;
}

/** Sends requests to the two gateways in turn. */
function ask(key: string, turn: number): Promise<Response> {
  const { url } = gateways[turn % 2 === 0 ? 0 : 1];
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] }),
  });
}

const passed = (responses: readonly Response[]): number =>
  responses.filter(({ status }) => status === 200).length;

test('of a free key the 10th request within a minute passes and the 11th is refused, on either process', async () => {
  const key = await newKey();
  const statuses: number[] = [];
  for (let turn = 0; turn < FREE_RPM + 2; turn += 1) statuses.push((await ask(key, turn)).status);
  expect(statuses).toEqual([...Array.from({ length: FREE_RPM }, () => 200), 429, 429]);
  const refused = await ask(key, 0);
  expect(refused.headers.get('retry-after')).toBe('60');
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
});

test('of many concurrent requests on two processes exactly the limit of the tier passes, for each key', async () => {
  const keys = await Promise.all(Array.from({ length: 5 }, () => newKey()));
  await Promise.all(
    keys.map(async (key) => {
      const turns = Array.from({ length: 3 * FREE_RPM }, (_, turn) => ask(key, turn));
      expect(passed(await Promise.all(turns))).toBe(FREE_RPM);
    }),
  );
});

test('the ceiling of a group holds for all its keys together, on all processes', async () => {
  const group = await newGroup(GROUP_RPM);
  const [one, other] = [await newKey(group), await newKey(group)];
  const turns = Array.from({ length: 20 }, (_, turn) => ask(turn % 3 === 0 ? one : other, turn));
  expect(passed(await Promise.all(turns))).toBe(GROUP_RPM);
});
