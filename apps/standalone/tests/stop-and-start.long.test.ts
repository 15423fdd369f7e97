import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { embeddedPostgresUrl } from '@model-gateway/embedded';
import {
  waitUntil,
  type TestProcess,
  preparedDataDir,
  type TemporaryFolder,
} from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { rejectUsage, runRejectedUsage } from './rejected-usage-program.ts';
import { chat, chatOnce, processesOf, startStandalone, usageRows } from './standalone.ts';
import { finishVideoJobs, submitVideo, videoJob } from './video-jobs.ts';

const noneLeft = (path: string) =>
  waitUntil(async () => (await processesOf(path)).length === 0, {
    what: 'the end of all processes',
  });

// Two instances side by side, each with its own data directory and port; only the first finds a redis-server.
let withRedis: TestProcess;
let withoutRedis: TestProcess;
let folders: readonly [TemporaryFolder, TemporaryFolder];
let video: RunningCloudVideo;
/** What the command for rejected usage printed before the first start. */
let listedBefore: { readonly code: number; readonly output: string };

const SETTINGS = { SERVICE_VIDEO_POLL_MS: '200' };
const programs = (): string => join(folders[1].path, 'programs');
const startWithRedis = () => startStandalone(folders[0].path, SETTINGS);
const startWithoutRedis = () => startStandalone(folders[1].path, { ...SETTINGS, PATH: programs() });
const rejectedUsage = (...args: readonly string[]) =>
  runRejectedUsage('standalone', args, { SERVICE_DATA_DIR: folders[0].path });

beforeAll(async () => {
  folders = [await preparedDataDir(), await preparedDataDir()];
  video = await startCloudVideo();
  // The guard around the process under test needs a `sleep`.
  await mkdir(programs());
  await symlink('/bin/sleep', join(programs(), 'sleep'));
  listedBefore = await rejectedUsage('list');
  [withRedis, withoutRedis] = await Promise.all([startWithRedis(), startWithoutRedis()]);
});
afterAll(async () => {
  await Promise.all([withRedis.stop(), withoutRedis.stop()]);
  await video.close();
  await Promise.all(folders.map((each) => each.remove()));
});

test('without a redis-server on the PATH everything runs in one process', async () => {
  expect(withoutRedis.output()).toContain('an in-process store');
  const { token } = await chatOnce(withoutRedis.url, 'alone@example.com');
  expect(await usageRows(withoutRedis.url, token, 1)).toHaveLength(1);
});

test('one process with its own redis-server finishes video jobs from both APIs', async () => {
  await finishVideoJobs(withRedis, folders[0].path, video);
});

test('one process without a redis-server finishes them too, and after a kill -9 the next start continues with the same task', async () => {
  const key = await finishVideoJobs(withoutRedis, folders[1].path, video);
  const finished = video.taskCount;
  const id = await submitVideo(withoutRedis, key);
  await video.until(() => (video.tasks[finished]?.polls ?? 0) > 0);
  await withoutRedis.kill();
  withoutRedis = await startWithoutRedis();
  const status = async () =>
    ((await videoJob(withoutRedis, key, id)) as { readonly status: string }).status;
  await waitUntil(async () => (await status()) === 'done', { what: 'the end of the job' });
  expect(video.taskCount).toBe(finished + 1);
});

test('beside a running service, the command for rejected usage meters what waits in its embedded database', async () => {
  expect(listedBefore).toEqual({
    code: 1,
    output: `usage:rejected: there is no embedded Postgres in ${folders[0].path}; set DATABASE_URL\n`,
  });
  const id = await rejectUsage(await embeddedPostgresUrl(folders[0].path));
  expect(await rejectedUsage('list')).toMatchObject({
    code: 0,
    output: expect.stringContaining(id),
  });
  expect(await rejectedUsage('retry', '--all')).toEqual({ code: 0, output: `${id} metered\n` });
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
  withRedis = await startWithRedis();
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
  expect(withoutRedis.output()).toMatch(/\nStopped\.\n?$/);
  expect(withoutRedis.output()).not.toContain('57P01');
  await noneLeft(folders[1].path);
});
