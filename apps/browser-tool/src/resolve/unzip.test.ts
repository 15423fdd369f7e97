import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeZip, type ZipEntry } from '../../tests/resolve/zip.ts';
import { unzip } from './unzip.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'unzip-'));
  await mkdir(join(folder, 'inside'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function unpack(entries: readonly ZipEntry[]): Promise<string> {
  const archive = join(folder, 'archive.zip');
  await writeFile(archive, makeZip(entries));
  await unzip(archive, join(folder, 'inside'));
  return join(folder, 'inside');
}

test('files, folders, programs and links come out as they went in', async () => {
  const inside = await unpack([
    { name: 'a/' },
    { name: 'a/program', content: 'run me', kind: 'program' },
    { name: 'a/b/text', content: 'words' },
    { name: 'a/link', content: 'b/text', kind: 'link' },
  ]);
  expect((await stat(join(inside, 'a/program'))).mode & 0o777).toBe(0o755);
  expect((await stat(join(inside, 'a/b/text'))).mode & 0o111).toBe(0);
  expect(await readFile(join(inside, 'a/link'), 'utf8')).toBe('words');
  expect(await readlink(join(inside, 'a/link'))).toBe('b/text');
});

test.each([
  { why: 'climbs out', entries: [{ name: '../evil', content: 'x' }] },
  { why: 'climbs out after going in', entries: [{ name: 'a/../../evil', content: 'x' }] },
  { why: 'is absolute', entries: [{ name: '/tmp/evil', content: 'x' }] },
  { why: 'climbs out with backslashes', entries: [{ name: '..\\evil', content: 'x' }] },
  { why: 'is the path of a Windows drive', entries: [{ name: 'C:/evil', content: 'x' }] },
  { why: 'is a link to the outside', entries: [{ name: 'a', content: '../..', kind: 'link' }] },
  {
    why: 'is a link to the outside by way of another link',
    entries: [
      { name: 'd1/d2/x', content: '../..', kind: 'link' },
      { name: 'y', content: 'd1/d2/x/../..', kind: 'link' },
    ],
  },
  {
    why: 'goes through a link',
    entries: [
      { name: 'a', content: '../', kind: 'link' },
      { name: 'a/evil', content: 'x' },
    ],
  },
  {
    why: 'comes twice',
    entries: [
      { name: 'a', content: '1' },
      { name: 'a', content: '2' },
    ],
  },
] satisfies ReadonlyArray<{ why: string; entries: readonly ZipEntry[] }>)(
  'an entry that $why is refused, and nothing is written outside',
  async ({ entries }) => {
    await expect(unpack(entries)).rejects.toThrow();
    expect((await readdir(folder)).toSorted()).toEqual(['archive.zip', 'inside']);
  },
);
