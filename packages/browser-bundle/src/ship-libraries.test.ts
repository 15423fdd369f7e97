import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBundleList } from './bundle-list.ts';
import { shipLibraries } from './ship-libraries.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ship-'));
  for (const name of ['a', 'b']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'liba.so'), name);
    await writeFile(join(folder, name, `lib${name}.so`), name);
  }
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const list = (bundleLibs: string) =>
  readBundleList({ bundleLibs, bundleManifest: undefined, workingDirectory: folder });
const target = () => join(folder, 'dist', 'lib');

test('a build ships what is listed, and the next one only what is listed then', async () => {
  await shipLibraries(await list('a/liba.so:b/libb.so'), target());
  expect((await readdir(target())).toSorted()).toEqual(['liba.so', 'libb.so']);
  await shipLibraries(await list('b/liba.so'), target());
  expect(await readdir(target())).toEqual(['liba.so']);
  expect(await readFile(join(target(), 'liba.so'), 'utf8')).toBe('b');
  await shipLibraries(await list(''), target());
  await expect(readdir(target())).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a library that is not there, or two of one name, fail the build and change nothing', async () => {
  await shipLibraries(await list('a/liba.so'), target());
  await expect(shipLibraries(await list('c/libc.so'), target())).rejects.toThrow(
    `libraries to ship not found: ${join(folder, 'c/libc.so')} (BROWSER_BUNDLE_LIBS)`,
  );
  await expect(shipLibraries(await list('a/liba.so:b/liba.so'), target())).rejects.toThrow(
    'two libraries to ship are both named liba.so',
  );
  expect(await readFile(join(target(), 'liba.so'), 'utf8')).toBe('a');
});
