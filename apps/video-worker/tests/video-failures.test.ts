import { fullTable, waitUntil } from '@model-gateway/testkit';
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
  const refused: readonly (Case & { readonly error: string })[] = [
    {
      why: 'arrives and its response is lost',
      fault: { kind: 'lost-answer' },
      on: 'submit',
      error: 'read ECONNRESET',
    },
    {
      why: 'is refused with status 200 and an error code',
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
      why: 'gets status 500',
      fault: { kind: 'status', status: 500 },
      on: 'submit',
      error: 'upstream 500: planned failure 500',
    },
    {
      why: 'gets an invalid response',
      fault: { kind: 'garbage-json' },
      on: 'submit',
      error: 'the upstream response is not a valid video API response',
    },
  ];
  test.each(fullTable(refused, { small: 3 }))(
    'that $why fails the job and is not repeated',
    async ({ fault, on, error }) => {
      scene.video.faults.next(fault, 1, on);
      const job = await scene.create();
      expect(await job.ended()).toMatchObject({ status: 'failed', error, cost: 0, result: null });
      expect(job.notified).toEqual(['failed']);
      expect(job.notifications.at(-1)?.params).toEqual({
        job_id: job.id,
        stream_id: job.id,
        status: 'failed',
        error,
      });
      expect(submissionsOf(scene.video, job)).toBe(1);
      expect(await isBilled(job.id)).toBe(false);
    },
  );

  const repeated: readonly Case[] = [
    {
      why: '429',
      fault: { kind: 'status', status: 429, retryAfterSecs: 0 },
      on: 'submit',
      times: 2,
    },
    {
      why: 'a rate limit with status 200',
      fault: { kind: 'refused', code: 1002, message: 'rate limit' },
      on: 'submit',
      times: 1,
    },
  ];
  test.each(fullTable(repeated, { small: 1 }))(
    'that gets $why is repeated: no task was created',
    async ({ fault, times, on }) => {
      const tasks = scene.video.taskCount;
      scene.video.faults.next(fault, times, on);
      const job = await scene.create();
      expect(await job.ended()).toMatchObject({ status: 'done' });
      expect(submissionsOf(scene.video, job)).toBe((times ?? 0) + 1);
      expect(scene.video.taskCount - tasks).toBe(1);
    },
  );

  test('that could not be sent is repeated until it can', async () => {
    await scene.video.refuse();
    const job = await scene.create();
    await waitUntil(
      async () => (await scene.test.context.database.videoJobs.findWork(job.id))?.backend === null,
      {
        what: 'a submission that was undone',
      },
    );
    expect(await job.state()).toMatchObject({ status: 'queued' });
    await scene.video.resume();
    expect(await job.ended()).toMatchObject({ status: 'done' });
    expect([job.notified, submissionsOf(scene.video, job)]).toEqual([[0, 5, 50, 'done'], 1]);
  });
});

describe('a poll', () => {
  const passing: readonly Case[] = [
    { why: 'finds no URL', fault: { kind: 'no-download-url' }, on: 'retrieve', times: 3 },
    { why: 'gets status 429', fault: { kind: 'status', status: 429 }, on: 'query', times: 3 },
    { why: 'gets status 503', fault: { kind: 'status', status: 503 }, on: 'query', times: 3 },
    { why: 'is interrupted', fault: { kind: 'reset' }, on: 'query', times: 3 },
    { why: 'gets an invalid response', fault: { kind: 'garbage-json' }, on: 'query', times: 3 },
    { why: 'exceeds a rate limit', fault: { kind: 'refused', code: 1002 }, on: 'query', times: 3 },
    { why: 'cannot resolve', fault: { kind: 'status', status: 502 }, on: 'retrieve', times: 3 },
  ];
  test.each(fullTable(passing, { small: 3 }))(
    'that $why is repeated, and the job completes once',
    async ({ fault, times, on }) => {
      scene.video.faults.next(fault, times, on);
      const job = await scene.create();
      expect(await job.ended()).toMatchObject({ status: 'done' });
      expect(job.notified).toEqual([0, 5, 50, 'done']);
      expect(submissionsOf(scene.video, job)).toBe(1);
      expect(
        (await usageOf(scene.test, scene.userId)).filter(({ id }) => id === job.id),
      ).toHaveLength(1);
    },
  );

  const fatal: readonly (Case & { readonly error: string })[] = [
    {
      why: 'reports that the task failed',
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
      why: 'is refused with status 200 and an error code',
      fault: { kind: 'refused', code: 1026, message: 'sensitive' },
      on: 'query',
      error: 'upstream 1026: sensitive',
    },
    {
      why: 'only gets invalid responses',
      fault: { kind: 'garbage-json' },
      on: 'query',
      times: Infinity,
      error: 'the upstream response is not a valid video API response',
    },
    {
      why: 'never finds a URL',
      fault: { kind: 'no-download-url' },
      on: 'retrieve',
      times: Infinity,
      error: 'the upstream response is not a valid video API response',
    },
  ];
  test.each(fullTable(fatal, { small: 3 }))(
    'that $why fails the job, which costs nothing',
    async ({ fault, times, on, error }) => {
      scene.video.faults.next(fault, times, on);
      const job = await scene.create();
      expect(await job.ended()).toMatchObject({ status: 'failed', error, cost: 0, result: null });
      expect(job.notified.at(-1)).toBe('failed');
      expect(await isBilled(job.id)).toBe(false);
    },
  );

  test('that fails is repeated after a longer pause each time', async () => {
    scene.video.faults.next({ kind: 'status', status: 503 }, 4, 'query');
    const job = await scene.create();
    const started = performance.now();
    await job.ended();
    // One interval, four doubled ones, and the three of a job without failures.
    expect(performance.now() - started).toBeGreaterThan(POLL_MS * (1 + 2 + 4 + 8 + 16 + 3));
  });

  test('of a removed backend waits until the backend is registered again', async () => {
    scene.video.faults.always({ kind: 'never-finish' }, 'query');
    const job = await scene.create();
    await waitUntil(() => job.notified.includes(50), { what: 'a running job' });
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

const cancelsOf = ({ video }: VideoScene): number =>
  video.requests.filter(({ path }) => path === '/v1/cancel/video_generation').length;

describe('a job that takes too long', () => {
  let hasty: VideoScene;
  beforeAll(async () => {
    hasty = await startVideoScene({ env: { SERVICE_VIDEO_TIMEOUT_SECS: '4' } });
  });
  afterEach(() => hasty.video.faults.clear());
  afterAll(() => hasty.close());

  const endless: readonly (Case & { readonly error: string; readonly cancels: number })[] = [
    {
      why: 'does not finish',
      fault: { kind: 'never-finish' },
      on: 'query',
      error: 'not finished within 4 s: the upstream has not finished',
      cancels: 1,
    },
    {
      why: 'is down',
      fault: { kind: 'status', status: 503 },
      on: 'query',
      error: 'not finished within 4 s: upstream 503: planned failure 503',
      cancels: 1,
    },
    {
      why: 'accepts nothing',
      fault: { kind: 'status', status: 429, retryAfterSecs: 0 },
      on: 'submit',
      error: 'not finished within 4 s: upstream 429: planned failure 429',
      cancels: 0,
    },
  ];
  test.each(fullTable(endless, { small: 2 }))(
    'because its upstream $why fails, and its task is cancelled',
    async ({ fault, on, error, cancels }) => {
      const before = cancelsOf(hasty);
      hasty.video.faults.always(fault, on);
      const job = await hasty.create();
      expect(await job.ended()).toMatchObject({ status: 'failed', error });
      expect(await usageOf(hasty.test, hasty.userId)).toEqual([]);
      await waitUntil(() => cancelsOf(hasty) === before + cancels);
    },
  );

  test('because its backend was removed fails', async () => {
    hasty.video.faults.next({ kind: 'status', status: 429 }, 1, 'submit');
    const job = await hasty.create();
    await hasty.video.until(() => submissionsOf(hasty.video, job) === 1);
    await hasty.router.registry.remove('cloud');
    expect(await job.ended()).toMatchObject({
      status: 'failed',
      error: 'not finished within 4 s: no healthy video-capable backend serves the model: v-1',
    });
  });
});
