import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeEnvironmentFile, readEnvironmentFile } from './environment-file.ts';
import { infraFolder } from './infra-folder.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'make-env-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the script under the usual umask, which would let others read a new file. */
const makeEnv = (...args: readonly string[]) =>
  new Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }>(
    (resolve) => {
      const script = join(infraFolder, 'make-env.mjs');
      const command = ['-c', 'umask 022 && exec "$0" "$@"', process.execPath, script, ...args];
      const child = execFile('/bin/sh', command, (_error, stdout, stderr) =>
        resolve({ status: child.exitCode ?? -1, stdout, stderr }),
      );
    },
  );

test('the file can be read by its owner only and contains every secret; nothing is printed', async () => {
  const file = join(folder, '.env');
  expect(await makeEnv(file)).toMatchObject({ status: 0, stdout: '' });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const written = readEnvironmentFile(await readFile(file, 'utf8'));
  const printed = readEnvironmentFile(makeEnvironmentFile());
  expect(Object.keys(written)).toEqual(Object.keys(printed));
  expect(written['SERVICE_ENCRYPTION_KEY']).not.toBe(printed['SERVICE_ENCRYPTION_KEY']);
});

test('an existing file is never replaced', async () => {
  const file = join(folder, '.env');
  await writeFile(file, 'SERVICE_ENCRYPTION_KEY=old\n');
  const { status, stderr } = await makeEnv(file);
  expect(status).toBe(1);
  expect(stderr).toContain(`${file} exists and stays as it is`);
  expect(await readFile(file, 'utf8')).toBe('SERVICE_ENCRYPTION_KEY=old\n');
});

test.each([
  { why: 'no file is named', args: [], status: 2, says: 'Usage:' },
  { why: 'two files are named', args: ['one', 'two'], status: 2, says: 'Usage:' },
  { why: 'the folder is missing', args: ['/missing/.env'], status: 1, says: 'no such file' },
])('nothing is written when $why', async ({ args, status, says }) => {
  const result = await makeEnv(...args);
  expect(result).toMatchObject({ status, stdout: '' });
  expect(result.stderr).toContain(says);
});
