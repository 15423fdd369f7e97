import { Redis } from 'ioredis';
import { holdStores, newDataDir, query, runs, until } from './stores.ts';

let dataDir: Awaited<ReturnType<typeof newDataDir>>;

beforeEach(async () => {
  dataDir = await newDataDir();
});

afterEach(() => dataDir.remove());

test('killing the process that started the stores ends both', async () => {
  const holder = await holdStores(dataDir.path);
  expect([runs(holder.postgres.pid), runs(holder.redis.pid)]).toEqual([true, true]);
  await holder.kill();
  await until(() => !runs(holder.postgres.pid) && !runs(holder.redis.pid));
});

test('after all processes are killed at once, the next start recovers all data', async () => {
  const first = await holdStores(dataDir.path);
  await query(first.postgres.url, 'CREATE TABLE kept (value int)', 'INSERT INTO kept VALUES (42)');
  const redis = new Redis(first.redis.url);
  await redis.set('kept', '42');
  // The append-only file is written at the end of every second.
  await redis.config('SET', 'appendfsync', 'always');
  await redis.set('last', '43');
  redis.disconnect();
  for (const pid of [first.postgres.pid, first.redis.pid]) process.kill(pid, 'SIGKILL');
  await first.kill();

  const second = await holdStores(dataDir.path);
  expect(await query(second.postgres.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  const again = new Redis(second.redis.url);
  expect([await again.get('kept'), await again.get('last')]).toEqual(['42', '43']);
  again.disconnect();
  await second.kill();
  await until(() => !runs(second.postgres.pid) && !runs(second.redis.pid));
});

test('a start while the stores of a killed process still shut down waits for them', async () => {
  const first = await holdStores(dataDir.path);
  await query(first.postgres.url, 'CREATE TABLE kept (value int)');
  await first.kill();
  const second = await holdStores(dataDir.path);
  expect(second.postgres.url).toBe(first.postgres.url);
  expect(await query(second.postgres.url, 'SELECT count(*)::int AS rows FROM kept')).toEqual([
    { rows: 0 },
  ]);
  await second.kill();
  await until(() => !runs(second.postgres.pid) && !runs(second.redis.pid));
});
