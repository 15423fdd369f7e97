import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  rpcCall,
  waitUntil,
  type TestProcess,
  preparedDataDir,
  type TemporaryFolder,
} from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import { chatOnce, startStandalone, usageRows } from './standalone.ts';

const ADMIN_TOKEN = 'an admin token';

let folder: TemporaryFolder;
let video: RunningCloudVideo;
const running: TestProcess[] = [];

beforeEach(async () => {
  folder = await preparedDataDir();
  video = await startCloudVideo();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((standalone) => standalone.stop()));
  await video.close();
  await folder.remove();
});

async function start(env: Readonly<Record<string, string>>): Promise<TestProcess> {
  const standalone = await startStandalone(folder.path, {
    SERVICE_ADMIN_TOKEN: ADMIN_TOKEN,
    SERVICE_VIDEO_POLL_MS: '200',
    ...env,
  });
  running.push(standalone);
  return standalone;
}

/** A search path with no redis-server on it; the guard around the process under test needs a `sleep`. */
async function withoutRedis(): Promise<Readonly<Record<string, string>>> {
  const programs = join(folder.path, 'programs');
  await mkdir(programs);
  await symlink('/bin/sleep', join(programs, 'sleep'));
  return { PATH: programs };
}

async function register({ url }: TestProcess): Promise<void> {
  const response = await fetch(`${url}/api/admin/backends`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: JSON.stringify({
      type: 'cloud-video',
      name: 'cloud',
      url: video.url,
      models: ['v-1'],
    }),
  });
  expect(response.status).toBe(200);
}

const order = { model: 'v-1', prompt: 'a cat', duration_seconds: 10 };

async function submit({ url }: TestProcess, key: string): Promise<string> {
  const response = await fetch(`${url}/v1/video/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(order),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

/** The notifications of a job until it ends, by their names. */
async function listen({ url }: TestProcess, jobId: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/rpc/events?session=${jobId}`);
  const names: string[] = [];
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!names.some((name) => name !== 'video.progress')) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) break;
    names.push(...[...chunk.value.matchAll(/"method":"([^"]+)"/g)].map(([, name = '']) => name));
  }
  await reader?.cancel();
  return names;
}

/** Both APIs create a job; its notifications, result and usage are complete. */
async function finishJobs(standalone: TestProcess): Promise<{ readonly key: string }> {
  await register(standalone);
  const { token, key } = await chatOnce(standalone.url, 'owner@example.com');
  video.faults.next({ kind: 'slow-start', delayMs: 500 }, 2, 'submit');
  const rest = await submit(standalone, key);
  const created = await rpcCall(standalone.url, 'video.create', order, token);
  const { job_id: rpc } = created.result as { job_id: string };
  const names = await Promise.all([listen(standalone, rest), listen(standalone, rpc)]);
  const expected = ['video.progress', 'video.progress', 'video.progress', 'video.done'];
  expect(names).toEqual([expected, expected]);
  expect(await jobOf(standalone, key, rest)).toMatchObject({
    status: 'done',
    progress: 100,
    cost: 0.05,
  });
  const rows = await usageRows(standalone.url, token, 3);
  expect(rows).toHaveLength(3);
  for (const id of [rest, rpc]) {
    expect(rows).toContainEqual(expect.objectContaining({ id, backend: 'video', cost: 0.05 }));
  }
  return { key };
}

async function jobOf({ url }: TestProcess, key: string, id: string): Promise<unknown> {
  const got = await fetch(`${url}/v1/video/generations/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return got.json();
}

test('one process with its own redis-server finishes jobs from both APIs', async () => {
  await finishJobs(await start({}));
});

test('one process without a redis-server finishes them too, and after a kill -9 the next start continues with the same task', async () => {
  const env = await withoutRedis();
  const first = await start(env);
  const { key } = await finishJobs(first);
  const finished = video.taskCount;
  const id = await submit(first, key);
  await video.until(() => (video.tasks[finished]?.polls ?? 0) > 0);
  await first.kill();
  const second = await start(env);
  await waitUntil(
    async () => ((await jobOf(second, key, id)) as { status: string }).status === 'done',
    { what: 'the end of the job' },
  );
  expect(video.taskCount).toBe(finished + 1);
});
