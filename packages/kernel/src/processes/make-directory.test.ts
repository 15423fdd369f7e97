import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from './make-directory.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'make-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('missing directories are created, also concurrently, and existing ones are not changed', async () => {
  const path = join(folder, 'a', 'b', 'c');
  await Promise.all(Array.from({ length: 10 }, () => makeDirectory(path, 0o700)));
  await makeDirectory(path, 0o711);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test('a file at the path is an error', async () => {
  await writeFile(join(folder, 'file'), '');
  await expect(makeDirectory(join(folder, 'file'), 0o700)).rejects.toThrow('EEXIST');
  await expect(makeDirectory(join(folder, 'file', 'x'), 0o700)).rejects.toThrow('ENOTDIR');
});

test('a path where no directory can be created is an error and does not hang', async () => {
  await expect(makeDirectory('/proc/nope/x', 0o700)).rejects.toThrow('ENOENT');
});
