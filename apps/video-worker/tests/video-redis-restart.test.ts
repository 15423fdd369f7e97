import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRedisServer, startRedis } from '@model-gateway/embedded';
import { freePort, silentLog } from '@model-gateway/kernel';
import { fullTable, waitUntil } from '@model-gateway/testkit';
import { startCloudVideo } from '@model-gateway/testkit/upstreams';
import { submissionsOf } from './video-scene.ts';
import { createWorkerProcesses } from './worker-processes.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin';
const POLL_MS = 100;

/** A Redis that can be stopped and started again on its port. */
async function openRedis() {
  const dataDir = await mkdtemp(join(tmpdir(), 'model-gateway-redis-'));
  const binary = await findRedisServer(PATH);
  if (binary === undefined) throw new Error('there is no redis-server');
  const port = await freePort();
  const start = () => startRedis({ dataDir, binary, port, log: silentLog });
  let redis = await start();
  return {
    url: redis.url,
    stop: () => redis.stop(),
    async startAgain({ losesData }: { readonly losesData: boolean }) {
      if (losesData) await rm(join(dataDir, 'redis'), { recursive: true, force: true });
      redis = await start();
    },
    async close() {
      await redis.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

const RESTARTS = [
  { why: 'without its data', losesData: true },
  { why: 'with its data', losesData: false },
];

test.each(fullTable(RESTARTS, { small: 1 }))(
  'after a restart of Redis $why every job finishes, and none is submitted or billed twice; without Redis the worker reports the outage in its metrics and can be stopped',
  async ({ losesData }) => {
    const redis = await openRedis();
    const video = await startCloudVideo();
    const env = { SERVICE_VIDEO_POLL_MS: String(POLL_MS) };
    const processes = await createWorkerProcesses({ redisUrl: redis.url, env });
    await processes.register('cloud', video.url, ['v-1']);
    const worker = await processes.start();
    const before = await processes.create('v-1', 5);
    const isTaken = () => video.taskCount === before.length;
    await video.until(isTaken);
    video.faults.always({ kind: 'never-finish' }, 'query');
    await waitUntil(() => video.tasks.every(({ polls }) => polls > 0), { what: 'running jobs' });

    await redis.stop();
    const meanwhile = await processes.create('v-1', 2);
    await redis.startAgain({ losesData });
    video.faults.clear();
    for (const { taskId } of video.tasks) video.setTask(taskId, 'Success');

    const all = [...before, ...meanwhile];
    await waitUntil(
      async () => {
        const states = await Promise.all(all.map((job) => job.state()));
        return states.every(({ status }) => status === 'done');
      },
      { what: 'the end of all jobs' },
    );
    expect(all.map((job) => submissionsOf(video, job))).toEqual(all.map(() => 1));
    const { database, userId } = processes;
    const { records } = await database.usage.list({ userId, limit: 100, offset: 0 });
    expect(records.map(({ id }) => id).toSorted()).toEqual(all.map(({ id }) => id).toSorted());
    const gaps = video.tasks.flatMap(({ polledAt }) =>
      polledAt.slice(1).map((time, index) => time - (polledAt[index] ?? 0)),
    );
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(POLL_MS);

    await processes.create('v-1');
    await video.until(() => video.taskCount === all.length + 1);
    await redis.close();
    const metrics = async () => (await fetch(`${worker.url}/metrics`)).text();
    await waitUntil(async () => /^service_video_queue_depth nan$/im.test(await metrics()), {
      what: 'a queue that does not answer',
    });
    expect(await worker.stop()).toBe(0);

    await processes.close();
    await video.close();
  },
);
