import { fullSize, waitUntil } from '@model-gateway/testkit';
import { startCloudVideo, type RunningCloudVideo } from '@model-gateway/testkit/upstreams';
import type { ObservedJob } from './video-scene.ts';
import { createWorkerProcesses, type WorkerProcesses } from './worker-processes.ts';

const JOBS = fullSize(500, { small: 32 });
/** In each of the two workers; fewer than half of the jobs. */
const CONCURRENCY = fullSize(16, { small: 6 });
const POLL_MS = 500;
const CROWD_MS_MAX = fullSize(900_000, { small: 240_000 });
const STEPS = [
  'Preparing',
  'Queueing',
  'Processing',
  'Queueing',
  'Processing',
  'Queueing',
  'Success',
] as const;

let processes: WorkerProcesses;
let video: RunningCloudVideo;
let jobs: readonly ObservedJob[];

beforeAll(async () => {
  video = await startCloudVideo({ steps: STEPS, keepRequests: 0 });
  processes = await createWorkerProcesses({
    env: { SERVICE_VIDEO_POLL_MS: String(POLL_MS), SERVICE_VIDEO_CONCURRENCY: String(CONCURRENCY) },
  });
  await processes.register('cloud', video.url, ['v-1']);
  await Promise.all([processes.start(), processes.start()]);
  jobs = await processes.create('v-1', JOBS);
  await waitUntil(() => jobs.every(({ notified }) => typeof notified.at(-1) === 'string'), {
    what: 'the end of all jobs',
    timeoutMs: CROWD_MS_MAX,
  });
});
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

test('jobs do not starve: between two polls of a job most of the others are not done', () => {
  const all = video.tasks.flatMap(({ polledAt }) => polledAt);
  const isStarved = ({ polledAt }: { readonly polledAt: readonly number[] }): boolean =>
    polledAt.slice(1).some((time, index) => {
      const since = polledAt[index] ?? 0;
      return all.filter((at) => at > since && at < time).length >= all.length * 0.75;
    });
  // A busy machine may let one worker wait, with the jobs that it is about to poll.
  expect(video.tasks.filter(isStarved).length).toBeLessThanOrEqual(CONCURRENCY);
});
