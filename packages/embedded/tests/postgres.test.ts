import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLog as log } from '@model-gateway/kernel';
import { embeddedPostgresUrl, startPostgres } from '../src/index.ts';
import { commandLineOf } from '../src/process-identity.ts';
import { zombieProcess, exists, newDataDir, query, runs, until } from './stores.ts';

let dataDir: Awaited<ReturnType<typeof newDataDir>>;
/** One whose Postgres is set up, which takes most of the time of a first start. */
let template: Awaited<ReturnType<typeof newDataDir>>;

beforeAll(async () => {
  template = await newDataDir();
  await (await startPostgres({ dataDir: template.path, log })).stop();
});
afterAll(() => template.remove());

beforeEach(async () => {
  dataDir = await newDataDir();
});

const copyTemplate = (path = dataDir.path) =>
  promisify(execFile)('cp', ['-r', `${template.path}/.`, path]);

afterEach(() => dataDir.remove());

test('data survives a stop and a start, on the same port', async () => {
  await copyTemplate();
  const first = await startPostgres({ dataDir: dataDir.path, log });
  await query(first.url, 'CREATE TABLE kept (value int)', 'INSERT INTO kept VALUES (42)');
  await first.stop();
  expect(runs(first.pid)).toBe(false);

  const second = await startPostgres({ dataDir: dataDir.path, log });
  expect(second.url).toBe(first.url);
  expect(await embeddedPostgresUrl(dataDir.path)).toBe(second.url);
  expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  expect(await query(second.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
  expect(await query(second.url, 'SHOW server_encoding')).toEqual([{ server_encoding: 'UTF8' }]);
  await second.stop();
});

test('a data directory without a Postgres has no address', async () => {
  await expect(embeddedPostgresUrl(dataDir.path)).rejects.toThrow('set DATABASE_URL');
});

test('a killed server restarts with its data and its address', async () => {
  await copyTemplate();
  const store = await startPostgres({ dataDir: dataDir.path, log });
  await query(store.url, 'CREATE TABLE kept (value int)', 'INSERT INTO kept VALUES (42)');
  const killed = store.pid;
  process.kill(killed, 'SIGKILL');
  await until(() => store.pid !== killed);
  expect(await query(store.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
  await store.stop();
  expect(runs(store.pid)).toBe(false);
});

test('a second instance on the same data directory fails with the process id of the first', async () => {
  await copyTemplate();
  const store = await startPostgres({ dataDir: dataDir.path, log });
  await expect(startPostgres({ dataDir: dataDir.path, log })).rejects.toThrow(
    `is in use by process ${process.pid}`,
  );
  expect(await query(store.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await store.stop();
});

test('two instances on two data directories run side by side', async () => {
  const other = await newDataDir();
  await Promise.all([copyTemplate(), copyTemplate(other.path)]);
  const stores = await Promise.all([
    startPostgres({ dataDir: dataDir.path, log }),
    startPostgres({ dataDir: other.path, log }),
  ]);
  expect(new Set(stores.map((store) => store.url)).size).toBe(2);
  await Promise.all(stores.map((store) => query(store.url, 'SELECT 1')));
  await Promise.all(stores.map((store) => store.stop()));
  await other.remove();
});

test('a start after a crash during the first setup repeats the setup', async () => {
  const folder = join(dataDir.path, 'postgres');
  await mkdir(join(folder, 'cluster.new', 'base'), { recursive: true });
  await writeFile(join(folder, 'cluster.new', 'PG_VERSION'), '18\n');
  const store = await startPostgres({ dataDir: dataDir.path, log });
  expect(await query(store.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await exists(join(folder, 'cluster.new'))).toBe(false);
  await store.stop();
});

test.each([
  {
    whose: 'an unrelated process',
    takeId: () => Promise.resolve({ pid: process.pid, end: () => undefined }),
  },
  { whose: 'a zombie process', takeId: zombieProcess },
])('a stale process id that belongs to $whose does not prevent a start', async ({ takeId }) => {
  await copyTemplate();
  const first = await startPostgres({ dataDir: dataDir.path, log });
  const pidFile = join(dataDir.path, 'postgres', 'cluster', 'postmaster.pid');
  const content = await readFile(pidFile, 'utf8');
  await first.stop();
  const { pid, end } = await takeId();
  await writeFile(pidFile, content.replace(/^\d+/, String(pid)));
  const second = await startPostgres({ dataDir: dataDir.path, log });
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second.stop();
  end();
});

test('a data directory that only its owner may enter works, also for root', async () => {
  await copyTemplate();
  await chmod(dataDir.path, 0o700);
  const store = await startPostgres({ dataDir: dataDir.path, log });
  expect(await query(store.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await store.stop();
});

test('the password is in no command line and in a file that only its owner reads', async () => {
  const store = await startPostgres({ dataDir: dataDir.path, log });
  const secretFile = join(dataDir.path, 'secrets', 'postgres-password');
  expect((await stat(secretFile)).mode & 0o777).toBe(0o600);
  const secret = (await readFile(secretFile, 'utf8')).trim();
  expect(await commandLineOf(store.pid)).toContain('postgres');
  expect(await commandLineOf(store.pid)).not.toContain(secret);
  const wrong = store.url.replace(/:[^:@]+@/, ':wrong@');
  await expect(query(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed');
  await store.stop();
});

test('a data directory that cannot be created fails with a clear message', async () => {
  const file = join(dataDir.path, 'file');
  await writeFile(file, '');
  await expect(startPostgres({ dataDir: join(file, 'below'), log })).rejects.toThrow(
    /^the data directory .* cannot be written \(.*\); make it writable or set SERVICE_DATA_DIR to another$/,
  );
});
