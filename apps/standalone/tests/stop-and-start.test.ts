import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  waitUntil,
  type TestProcess,
  preparedDataDir,
  type TemporaryFolder,
} from '@model-gateway/testkit';
import { chat, chatOnce, processesOf, startStandalone, usageRows } from './standalone.ts';

const noneLeft = (path: string) =>
  waitUntil(async () => (await processesOf(path)).length === 0, {
    what: 'the end of all processes',
  });

// Two instances side by side, each with its own data directory and port; only the first finds a redis-server.
let withRedis: TestProcess;
let withoutRedis: TestProcess;
let folders: readonly [TemporaryFolder, TemporaryFolder];

beforeAll(async () => {
  folders = [await preparedDataDir(), await preparedDataDir()];
  // The guard around the process under test needs a `sleep`.
  const programs = join(folders[1].path, 'programs');
  await mkdir(programs);
  await symlink('/bin/sleep', join(programs, 'sleep'));
  [withRedis, withoutRedis] = await Promise.all([
    startStandalone(folders[0].path),
    startStandalone(folders[1].path, { PATH: programs }),
  ]);
});
afterAll(async () => {
  await Promise.all([withRedis.stop(), withoutRedis.stop()]);
  await Promise.all(folders.map((each) => each.remove()));
});

test('without a redis-server on the PATH everything runs in one process', async () => {
  expect(withoutRedis.output()).toContain('no Redis (in-process)');
  const { token } = await chatOnce(withoutRedis.url, 'alone@example.com');
  expect(await usageRows(withoutRedis.url, token, 1)).toHaveLength(1);
});

test('after SIGKILL of every process the next start has all data', async () => {
  const { token, key } = await chatOnce(withRedis.url, 'kept@example.com');
  expect((await chat(withoutRedis.url, key)).status).toBe(401);
  await usageRows(withRedis.url, token, 1);
  expect((await chat(withRedis.url, key)).status).toBe(200);
  for (const id of await processesOf(folders[0].path)) {
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // It exited together with another one.
    }
  }
  await withRedis.kill().catch(() => undefined);
  withRedis = await startStandalone(folders[0].path);
  // The second turn was served, so it is billed, whether or not it had been recorded before the kill.
  expect(await usageRows(withRedis.url, token, 2)).toHaveLength(2);
  expect((await chat(withRedis.url, key)).status).toBe(200);
  expect(withRedis.output()).not.toContain('shown only once');
});

test('after SIGKILL of only the service its stores stop by themselves', async () => {
  await withRedis.kill();
  await noneLeft(folders[0].path);
});

test('Ctrl-C, which arrives twice under npm, drains once and leaves no process behind', async () => {
  withoutRedis.signal('SIGINT');
  withoutRedis.signal('SIGINT');
  expect(await withoutRedis.exited).toBe(0);
  await noneLeft(folders[1].path);
});
