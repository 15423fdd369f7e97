import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDir } from './data-dir-lock.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'lock-'));
});

afterEach(() => rm(dataDir, { recursive: true }));

test('a data directory has one holder, until it is released', async () => {
  const release = await lockDataDir(dataDir);
  await expect(lockDataDir(dataDir)).rejects.toThrow(
    `the data directory ${dataDir} is in use by process ${process.pid}`,
  );
  await release();
  await (
    await lockDataDir(dataDir)
  )();
});

test('only one of many concurrent callers gets the lock', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDir(dataDir)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test.each([
  { why: 'a process that has ended', content: '999999999\n1\nx\n' },
  { why: 'a process whose id another process has now', content: `${process.pid}\n1\nx\n` },
  { why: 'an interrupted write', content: '' },
])('a lock left behind by $why is taken over', async ({ content }) => {
  const lock = join(dataDir, 'lock');
  await writeFile(lock, content);
  const release = await lockDataDir(dataDir);
  expect(await readFile(lock, 'utf8')).toMatch(new RegExp(`^${process.pid}\n`));
  await release();
});

test('a missing data directory is created', async () => {
  const release = await lockDataDir(join(dataDir, 'new', 'below'));
  await release();
});
