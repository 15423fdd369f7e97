import { waitUntil } from '@model-gateway/testkit';
import type { VideoFault, VideoOperation } from '@model-gateway/testkit/upstreams';
import {
  POLL_MS,
  registerVideo,
  startVideoScene,
  submissionsOf,
  usageOf,
  type VideoScene,
} from './video-scene.ts';

let scene: VideoScene;
beforeAll(async () => {
  scene = await startVideoScene();
});
afterEach(() => scene.video.faults.clear());
afterAll(() => scene.close());

interface Case {
  readonly why: string;
  readonly fault: VideoFault;
  readonly on: VideoOperation;
  readonly times?: number;
}

const isBilled = async (id: string): Promise<boolean> =>
  (await usageOf(scene.test, scene.userId)).some((row) => row.id === id);

describe('a submission', () => {
  test.each<Case & { readonly error: string }>([
    {
      why: 'is refused with a good status and a bad code',
      fault: { kind: 'refused', code: 1008, message: 'insufficient balance' },
      on: 'submit',
      error: 'upstream 1008: insufficient balance',
    },
    {
      why: 'is refused',
      fault: { kind: 'status', status: 400 },
      on: 'submit',
      error: 'upstream 400: planned failure 400',
    },
    {
      why: 'is answered 500',
      fault: { kind: 'status', status: 500 },
      on: 'submit',
      error: 'upstream 500: planned failure 500',
    },
    {
      why: 'is answered with garbage',
      fault: { kind: 'garbage-json' },
      on: 'submit',
      error: 'the upstream answered something that is no answer of a video API',
    },
    {
      why: 'arrives and its answer is lost',
      fault: { kind: 'lost-answer' },
      on: 'submit',
      error: 'read ECONNRESET',
    },
  ])('that $why fails the job and is not repeated', async ({ fault, on, error }) => {
    scene.video.faults.next(fault, 1, on);
    const job = await scene.create();
    expect(await job.ended()).toMatchObject({ status: 'failed', error, cost: 0, result: null });
    expect(job.heard).toEqual(['failed']);
    expect(job.notifications.at(-1)?.params).toEqual({
      job_id: job.id,
      stream_id: job.id,
      status: 'failed',
      error,
    });
    expect(submissionsOf(scene.video, job)).toBe(1);
    expect(await isBilled(job.id)).toBe(false);
  });

  test.each<Case>([
    { why: '429', fault: { kind: 'status', status: 429 }, on: 'submit', times: 2 },
    {
      why: 'that it is one too many, with a good status',
      fault: { kind: 'refused', code: 1002, message: 'rate limit' },
      on: 'submit',
      times: 2,
    },
  ])('that is answered $why is repeated: no task was made', async ({ fault, times, on }) => {
    const tasks = scene.video.taskCount;
    scene.video.faults.next(fault, times, on);
    const job = await scene.create();
    expect(await job.ended()).toMatchObject({ status: 'done' });
    expect([submissionsOf(scene.video, job), scene.video.taskCount - tasks]).toEqual([3, 1]);
  });

  test('that certainly did not arrive is repeated until it does', async () => {
    await scene.video.refuse();
    const job = await scene.create();
    await waitUntil(
      async () => (await scene.test.context.database.videoJobs.findWork(job.id))?.backend === null,
      {
        what: 'a submission that was taken back',
      },
    );
    expect(await job.state()).toMatchObject({ status: 'queued' });
    await scene.video.resume();
    expect(await job.ended()).toMatchObject({ status: 'done' });
    expect([job.heard, submissionsOf(scene.video, job)]).toEqual([[0, 5, 50, 'done'], 1]);
  });
});

describe('a poll', () => {
  test.each<Case>([
    { why: 'is answered 429', fault: { kind: 'status', status: 429 }, on: 'query', times: 3 },
    { why: 'is answered 503', fault: { kind: 'status', status: 503 }, on: 'query', times: 3 },
    { why: 'is cut', fault: { kind: 'reset' }, on: 'query', times: 3 },
    { why: 'is answered with garbage', fault: { kind: 'garbage-json' }, on: 'query', times: 3 },
    { why: 'is one too many', fault: { kind: 'refused', code: 1002 }, on: 'query', times: 3 },
    { why: 'finds no address', fault: { kind: 'no-download-url' }, on: 'retrieve', times: 3 },
    { why: 'cannot resolve', fault: { kind: 'status', status: 502 }, on: 'retrieve', times: 3 },
  ])('that $why is made again, and the job is done once', async ({ fault, times, on }) => {
    scene.video.faults.next(fault, times, on);
    const job = await scene.create();
    expect(await job.ended()).toMatchObject({ status: 'done' });
    expect(job.heard).toEqual([0, 5, 50, 'done']);
    expect(submissionsOf(scene.video, job)).toBe(1);
    expect(
      (await usageOf(scene.test, scene.userId)).filter(({ id }) => id === job.id),
    ).toHaveLength(1);
  });

  test.each<Case & { readonly error: string }>([
    {
      why: 'says that the task failed',
      fault: { kind: 'fail', reason: 'no GPU' },
      on: 'query',
      error: 'no GPU',
    },
    {
      why: 'finds that the task is lost',
      fault: { kind: 'lost-task' },
      on: 'query',
      error: 'upstream 2013: task not found',
    },
    {
      why: 'is refused with a good status and a bad code',
      fault: { kind: 'refused', code: 1026, message: 'sensitive' },
      on: 'query',
      error: 'upstream 1026: sensitive',
    },
    {
      why: 'is never answered with anything but garbage',
      fault: { kind: 'garbage-json' },
      on: 'query',
      times: Infinity,
      error: 'the upstream answered something that is no answer of a video API',
    },
    {
      why: 'never finds an address',
      fault: { kind: 'no-download-url' },
      on: 'retrieve',
      times: Infinity,
      error: 'the upstream answered something that is no answer of a video API',
    },
  ])('that $why fails the job, which costs nothing', async ({ fault, times, on, error }) => {
    scene.video.faults.next(fault, times, on);
    const job = await scene.create();
    expect(await job.ended()).toMatchObject({ status: 'failed', error, cost: 0, result: null });
    expect(job.heard.at(-1)).toBe('failed');
    expect(await isBilled(job.id)).toBe(false);
  });

  test('that fails is made again later each time', async () => {
    scene.video.faults.next({ kind: 'status', status: 503 }, 4, 'query');
    const job = await scene.create();
    const started = performance.now();
    await job.ended();
    // One interval, four that doubled, and the three of a life without failures.
    expect(performance.now() - started).toBeGreaterThan(POLL_MS * (1 + 2 + 4 + 8 + 16 + 3));
  });

  test('that the backend is not there for waits until it is back', async () => {
    scene.video.faults.always({ kind: 'never-finish' }, 'query');
    const job = await scene.create();
    await waitUntil(() => job.heard.includes(50), { what: 'a running job' });
    await scene.router.registry.remove('cloud');
    scene.video.faults.clear();
    const taskId = scene.video.tasks.at(-1)?.taskId ?? '';
    scene.video.setTask(taskId, 'Success');
    const polls = scene.video.requestCount;
    await waitUntil(async () => (await job.state()).status === 'running', {
      what: 'a running job',
    });
    await registerVideo(scene.router, 'cloud', scene.video.url, ['v-1']);
    expect(await job.ended()).toMatchObject({ status: 'done' });
    expect(scene.video.requestCount).toBeGreaterThan(polls);
  });
});

describe('a job that takes too long', () => {
  let hasty: VideoScene;
  beforeAll(async () => {
    hasty = await startVideoScene({ env: { SERVICE_VIDEO_TIMEOUT_SECS: '1' } });
  });
  afterEach(() => hasty.video.faults.clear());
  afterAll(() => hasty.close());

  test.each<Case & { readonly error: string }>([
    {
      why: 'is not done',
      fault: { kind: 'never-finish' },
      on: 'query',
      error: 'not finished within 1 s: the upstream is not done',
    },
    {
      why: 'is down',
      fault: { kind: 'status', status: 503 },
      on: 'query',
      error: 'not finished within 1 s: upstream 503: planned failure 503',
    },
    {
      why: 'takes nothing',
      fault: { kind: 'status', status: 429 },
      on: 'submit',
      error: 'not finished within 1 s: upstream 429: planned failure 429',
    },
  ])('because its upstream $why fails', async ({ fault, on, error }) => {
    hasty.video.faults.always(fault, on);
    const job = await hasty.create();
    expect(await job.ended()).toMatchObject({ status: 'failed', error });
    expect(await usageOf(hasty.test, hasty.userId)).toEqual([]);
  });

  test('because there is no backend any more fails', async () => {
    hasty.video.faults.next({ kind: 'status', status: 429 }, 1, 'submit');
    const job = await hasty.create();
    await hasty.video.until(() => submissionsOf(hasty.video, job) === 1);
    await hasty.router.registry.remove('cloud');
    expect(await job.ended()).toMatchObject({
      status: 'failed',
      error: 'not finished within 1 s: no healthy video-capable backend serves the model: v-1',
    });
  });
});
