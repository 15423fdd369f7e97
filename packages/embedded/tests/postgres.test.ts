import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { silentLog as log } from '@model-gateway/kernel';
import { embeddedPostgresUrl, startPostgres } from '../src/index.ts';
import { commandLineOf } from '../src/process-identity.ts';
import { zombieProcess, exists, newDataDir, query, runs, until } from './stores.ts';

let dataDir: Awaited<ReturnType<typeof newDataDir>>;
/** One that is set up once, which takes most of the time of a first start. */
let template: Awaited<ReturnType<typeof newDataDir>>;
let first: Awaited<ReturnType<typeof startPostgres>>;
let stopping: Promise<void> | undefined;

beforeAll(async () => {
  template = await newDataDir();
  const unfinished = join(template.path, 'postgres', 'cluster.new');
  await mkdir(join(unfinished, 'base'), { recursive: true });
  await writeFile(join(unfinished, 'PG_VERSION'), '18\n');
  first = await startPostgres({ dataDir: template.path, log });
});
afterAll(async () => {
  await stopTemplate();
  await template.remove();
});

beforeEach(async () => {
  dataDir = await newDataDir();
});
afterEach(() => dataDir.remove());

const stopTemplate = (): Promise<void> => (stopping ??= first.stop());

async function copyTemplate(path = dataDir.path): Promise<void> {
  await stopTemplate();
  await promisify(execFile)('cp', ['-r', `${template.path}/.`, path]);
}

test('a start after a crash during the first setup repeats the setup', async () => {
  expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await exists(join(template.path, 'postgres', 'cluster.new'))).toBe(false);
});

test('the password is in no command line and in a file that only its owner reads', async () => {
  const secretFile = join(template.path, 'secrets', 'postgres-password');
  expect((await stat(secretFile)).mode & 0o777).toBe(0o600);
  const secret = (await readFile(secretFile, 'utf8')).trim();
  expect(await commandLineOf(first.pid)).toContain('postgres');
  expect(await commandLineOf(first.pid)).not.toContain(secret);
  const wrong = first.url.replace(/:[^:@]+@/, ':wrong@');
  await expect(query(wrong, 'SELECT 1')).rejects.toThrow('password authentication failed');
});

test('a second instance on the same data directory fails with the process id of the first', async () => {
  await expect(startPostgres({ dataDir: template.path, log })).rejects.toThrow(
    `is in use by process ${process.pid}`,
  );
  expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('data survives a stop and a start, on the same port', async () => {
  await copyTemplate();
  const before = await startPostgres({ dataDir: dataDir.path, log });
  await query(before.url, 'CREATE TABLE kept (value int)', 'INSERT INTO kept VALUES (42)');
  await before.stop();
  expect(runs(before.pid)).toBe(false);

  const second = await startPostgres({ dataDir: dataDir.path, log });
  expect(second.url).toBe(before.url);
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

test('two instances on two data directories run side by side, also where only the owner may enter, as root', async () => {
  const other = await newDataDir();
  await Promise.all([copyTemplate(), copyTemplate(other.path)]);
  await chmod(other.path, 0o700);
  const stores = await Promise.all([
    startPostgres({ dataDir: dataDir.path, log }),
    startPostgres({ dataDir: other.path, log }),
  ]);
  expect(new Set(stores.map((store) => store.url)).size).toBe(2);
  await Promise.all(stores.map((store) => query(store.url, 'SELECT 1')));
  await Promise.all(stores.map((store) => store.stop()));
  await other.remove();
});

test.each([
  {
    whose: 'an unrelated process',
    takeId: () => Promise.resolve({ pid: process.pid, end: () => undefined }),
  },
  { whose: 'a zombie process', takeId: zombieProcess },
])('a stale process id that belongs to $whose does not prevent a start', async ({ takeId }) => {
  await copyTemplate();
  const before = await startPostgres({ dataDir: dataDir.path, log });
  const pidFile = join(dataDir.path, 'postgres', 'cluster', 'postmaster.pid');
  const content = await readFile(pidFile, 'utf8');
  await before.stop();
  const { pid, end } = await takeId();
  await writeFile(pidFile, content.replace(/^\d+/, String(pid)));
  const second = await startPostgres({ dataDir: dataDir.path, log });
  expect(await query(second.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second.stop();
  end();
});

test('a data directory that cannot be created fails with a clear message', async () => {
  const file = join(dataDir.path, 'file');
  await writeFile(file, '');
  await expect(startPostgres({ dataDir: join(file, 'below'), log })).rejects.toThrow(
    /^the data directory .* cannot be written \(.*\); make it writable or set SERVICE_DATA_DIR to another$/,
  );
});
