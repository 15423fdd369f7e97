import { waitUntil } from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import type { ObservedJob } from './video-scene.ts';
import { createWorkerProcesses, type WorkerProcesses } from './worker-processes.ts';

const JOBS = 500;
const POLL_MS = 500;
const CROWD_MS_MAX = 90_000;
const STEPS = ['Preparing', 'Queueing', 'Processing', 'Queueing', 'Success'] as const;

let processes: WorkerProcesses;
let video: RunningCloudVideo;
let jobs: readonly ObservedJob[];
let tookMs = 0;

beforeAll(async () => {
  video = await startCloudVideo({ steps: STEPS, keepRequests: 0 });
  processes = await createWorkerProcesses({
    env: { SERVICE_VIDEO_POLL_MS: String(POLL_MS), SERVICE_VIDEO_CONCURRENCY: '16' },
  });
  await processes.register('cloud', video.url, ['v-1']);
  await Promise.all([processes.start(), processes.start()]);
  const began = performance.now();
  jobs = await processes.create('v-1', JOBS);
  await waitUntil(() => jobs.every(({ notified }) => typeof notified.at(-1) === 'string'), {
    what: 'the end of all jobs',
    timeoutMs: CROWD_MS_MAX,
  });
  tookMs = performance.now() - began;
}, 120_000);
afterAll(async () => {
  await processes.close();
  await video.close();
});

test('every one of many jobs on two workers is submitted once, done once and billed once', async () => {
  expect(video.taskCount).toBe(JOBS);
  expect(new Set(video.tasks.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(JOBS);
  const { userId, database } = processes;
  const { total } = await database.usage.list({ userId, limit: 1, offset: 0 });
  expect(total).toBe(JOBS);
});

test('the progress of each job never decreases', () => {
  const sequences = new Set(jobs.map(({ notified }) => notified.join(' ')));
  expect([...sequences]).toEqual(['0 5 50 done']);
});

test('no upstream task is polled twice within an interval', () => {
  const gaps = video.tasks.flatMap(({ polledAt }) =>
    polledAt.slice(1).map((time, index) => time - (polledAt[index] ?? 0)),
  );
  expect(gaps).toHaveLength(JOBS * (STEPS.length - 1));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(POLL_MS);
});

test('no job starves: each is polled again before all other jobs could be polled twice', () => {
  const longest = video.tasks.map(({ polledAt }) =>
    Math.max(...polledAt.slice(1).map((time, index) => time - (polledAt[index] ?? 0))),
  );
  expect(Math.max(...longest)).toBeLessThan(tookMs / 2);
});
