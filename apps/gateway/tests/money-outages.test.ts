import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '@model-gateway/db';
import { newId, silentLog } from '@model-gateway/kernel';
import {
  createTestDatabase,
  testRedisUrl,
  uniquePrefix,
  waitUntil,
  type TestDatabase,
  type TestProcess,
} from '@model-gateway/testkit';
import { startChatUpstream, type RunningChatUpstream } from '@model-gateway/testkit/upstreams';
import { countRecorded } from './money-books.ts';
import { keysOn } from './money-scene.ts';
import { createServiceProcesses, type ServiceProcesses } from './service-processes.ts';
import { openStoreLine, type StoreLine } from './store-line.ts';

const FREE_RPM = 10;

let database: TestDatabase;
let dataDir = '';
let postgresLine: StoreLine;
let redisLine: StoreLine;
let upstream: RunningChatUpstream;
let service: ServiceProcesses;
let gateway: TestProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-outages-'));
  postgresLine = await openStoreLine(database.url);
  redisLine = await openStoreLine(testRedisUrl());
  upstream = await startChatUpstream();
  service = createServiceProcesses({
    databaseUrl: postgresLine.url,
    redisUrl: redisLine.url,
    redisPrefix: uniquePrefix(),
    dataDir,
  });
  [gateway] = await Promise.all([service.start('gateway'), service.start('video-worker')]);
  await service.register(gateway, { upstream });
});

afterAll(async () => {
  await service.stop();
  await Promise.all([postgresLine.close(), redisLine.close(), upstream.close()]);
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

/** A key of a new user, who is on the free tier. */
async function newKey(): Promise<string> {
  const direct = createDatabase({ databaseUrl: database.url, log: silentLog });
  const userId = newId();
  const email = `${userId}@example.com`;
  await direct.users.create({ id: userId, email, name: '', passwordHash: 'not used' });
  const { secret } = await keysOn(direct, dataDir).create({ userId, name: 'key' });
  await direct.close();
  return secret;
}

async function ask(key: string, ref: string): Promise<number> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'x-service-ref': ref },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return response.status;
}

const recorded = (refs: readonly string[]): Promise<void> =>
  waitUntil(async () => (await countRecorded(database.url, refs)) === refs.length, {
    what: `${refs.length} requests are recorded`,
  });

test('during an outage of Postgres requests are served, and their rows appear when it is back', async () => {
  const key = await newKey();
  const before = newId();
  expect(await ask(key, before)).toBe(200);
  await recorded([before]);
  postgresLine.cut();
  const refs = Array.from({ length: FREE_RPM - 1 }, () => newId());
  for (const ref of refs) expect(await ask(key, ref)).toBe(200);
  expect(await ask(key, newId())).toBe(429);
  expect(await countRecorded(database.url, refs)).toBe(0);
  postgresLine.restore();
  await recorded(refs);
});

test('during an outage of Redis requests are served within limits per process, and their rows appear when it is back', async () => {
  const key = await newKey();
  redisLine.cut();
  const refs = Array.from({ length: FREE_RPM }, () => newId());
  for (const ref of refs) expect(await ask(key, ref)).toBe(200);
  expect(await ask(key, newId())).toBe(429);
  redisLine.restore();
  await recorded(refs);
});
