import { Redis } from 'ioredis';
import { holdStores, newDataDir, query, runs, until } from './stores.ts';

let dataDir: Awaited<ReturnType<typeof newDataDir>>;
let holder: Awaited<ReturnType<typeof holdStores>>;

beforeAll(async () => {
  dataDir = await newDataDir();
  holder = await holdStores(dataDir.path);
});
afterAll(async () => {
  await holder.kill();
  await until(() => !runs(holder.postgres.pid) && !runs(holder.redis.pid));
  await dataDir.remove();
});

test('after all processes are killed at once, the next start recovers all data', async () => {
  await query(holder.postgres.url, 'CREATE TABLE kept (value int)', 'INSERT INTO kept VALUES (42)');
  const redis = new Redis(holder.redis.url);
  await redis.set('kept', '42');
  // The append-only file is written at the end of every second.
  await redis.config('SET', 'appendfsync', 'always');
  await redis.set('last', '43');
  redis.disconnect();
  for (const pid of [holder.postgres.pid, holder.redis.pid]) process.kill(pid, 'SIGKILL');
  await holder.kill();

  holder = await holdStores(dataDir.path);
  expect(await query(holder.postgres.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  const again = new Redis(holder.redis.url);
  expect([await again.get('kept'), await again.get('last')]).toEqual(['42', '43']);
  again.disconnect();
});

test('a start while the stores of a killed process still shut down waits for them', async () => {
  const { url } = holder.postgres;
  await query(url, 'CREATE TABLE empty (value int)');
  await holder.kill();
  holder = await holdStores(dataDir.path);
  expect(holder.postgres.url).toBe(url);
  expect(await query(url, 'SELECT count(*)::int AS rows FROM empty')).toEqual([{ rows: 0 }]);
});

test('killing the process that started the stores ends both', async () => {
  expect([runs(holder.postgres.pid), runs(holder.redis.pid)]).toEqual([true, true]);
  await holder.kill();
  await until(() => !runs(holder.postgres.pid) && !runs(holder.redis.pid));
});
