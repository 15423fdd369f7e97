import { mkdtemp, readdir, rm, stat, utimes, writeFile, chmod, mkdir } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { createCredentialFile } from './credential-file.ts';

let directory: string;

beforeEach(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'model-gateway-credentials-')), 'model-gateway');
});
afterEach(() => rm(join(directory, '..'), { recursive: true, force: true }));

const withToken = (admin_token: string) => async () => ({
  services: { 'http://a': { admin_token } },
});

test('a missing file has no services', async () => {
  expect(await createCredentialFile(directory).read()).toEqual({ services: {} });
});

test('the folder has mode 0700 and the file 0600, whatever they had before', async () => {
  await mkdir(directory, { mode: 0o755 });
  const file = createCredentialFile(directory);
  expect(await file.isExposed()).toBe(undefined);
  await writeFile(file.path, '{"services":{}}');
  await chmod(file.path, 0o644);
  expect(await file.isExposed()).toBe(true);
  await file.update(withToken('secret'));
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
  expect((await stat(file.path)).mode & 0o777).toBe(0o600);
  expect(await file.isExposed()).toBe(false);
  expect(await readdir(directory)).toEqual(['credentials.json']);
});

test('changes at the same time are made one after the other, and none is lost', async () => {
  const file = createCredentialFile(directory);
  const names = Array.from({ length: 20 }, (_, index) => `http://${index}`);
  await Promise.all(
    names.map((name) =>
      file.update(async ({ services }) => ({
        services: { ...services, [name]: { admin_token: name } },
      })),
    ),
  );
  expect(Object.keys((await file.read()).services).toSorted()).toEqual(names.toSorted());
});

test('a change that fails leaves the file as it was, and the next one is not blocked', async () => {
  const file = createCredentialFile(directory);
  await file.update(withToken('first'));
  await expect(file.update(() => Promise.reject(new Error('no answer')))).rejects.toThrow(
    'no answer',
  );
  expect(await file.read()).toEqual(await withToken('first')());
  await file.update(withToken('second'));
});

test.each([
  {
    why: 'the process that holds it has ended',
    owner: { id: 'x', pid: 2 ** 30, host: hostname() },
    ageSecs: 0,
  },
  {
    why: 'it is old and of another machine',
    owner: { id: 'x', pid: 1, host: 'another-machine' },
    ageSecs: 600,
  },
])('a lock is removed when $why', async ({ owner, ageSecs }) => {
  const file = createCredentialFile(directory);
  await mkdir(directory);
  const lock = `${file.path}.lock`;
  await writeFile(lock, JSON.stringify(owner));
  const then = Date.now() / 1000 - ageSecs;
  await utimes(lock, then, then);
  await file.update(withToken('secret'));
  expect(await readdir(directory)).toEqual(['credentials.json']);
});

test('a damaged file is refused with the command that repairs it', async () => {
  const file = createCredentialFile(directory);
  await mkdir(directory);
  await writeFile(file.path, '{"servi');
  const problem: unknown = await file.read().catch((error: unknown) => error);
  expect(problem).toBeInstanceOf(CliError);
  expect(problem).toMatchObject({ next: expect.stringContaining(`rm ${file.path}`) });
});
