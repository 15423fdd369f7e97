import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockDataDir, publishAddress } from '@model-gateway/embedded';
import { readHeldAddress } from './held-address.ts';

const ADDRESS = { host: '127.0.0.1', port: 8080 };
let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'address-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

test('the address is known while its service holds the data directory, to its owner only', async () => {
  expect(await readHeldAddress(dataDir)).toBeUndefined();
  const release = await lockDataDir(dataDir);
  const remove = await publishAddress(dataDir, ADDRESS);
  expect(await readHeldAddress(dataDir)).toEqual(ADDRESS);
  expect((await stat(join(dataDir, 'address'))).mode & 0o777).toBe(0o600);
  await remove();
  expect(await readHeldAddress(dataDir)).toBeUndefined();
  await release();
});

test('the address of a killed process does not count, whatever has its id or its directory now', async () => {
  const release = await lockDataDir(dataDir);
  await publishAddress(dataDir, ADDRESS);
  const lock = join(dataDir, 'lock');
  const file = join(dataDir, 'address');
  const written = await readFile(lock, 'utf8');
  for (const stale of [
    '999999999\n1\nx\n',
    `${process.pid}\n1\nx\n`,
    `${process.pid}\n\nx\n`,
    '',
  ]) {
    await writeFile(lock, stale);
    await writeFile(file, JSON.stringify({ lock: stale, ...ADDRESS }));
    expect(await readHeldAddress(dataDir)).toBeUndefined();
  }
  // The next service has locked the directory, and does not listen yet.
  await writeFile(lock, written);
  expect(await readHeldAddress(dataDir)).toBeUndefined();
  await release();
});

test('an incomplete file does not count', async () => {
  const release = await lockDataDir(dataDir);
  await writeFile(join(dataDir, 'address'), '{"lock":');
  expect(await readHeldAddress(dataDir)).toBeUndefined();
  await release();
});
