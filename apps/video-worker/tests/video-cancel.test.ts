import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@model-gateway/kernel';
import { createGate, waitUntil } from '@model-gateway/testkit';
import {
  POLL_MS,
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

const cancelled = { status: 'cancelled', error: 'cancelled', cost: 0, result: null };

test('a queued job that is cancelled is never submitted', async () => {
  await scene.video.refuse();
  const job = await scene.create();
  await scene.jobs.cancel(scene.userId, job.id);
  await scene.video.resume();
  const later = await scene.create();
  await later.ended();
  expect(await job.state()).toMatchObject(cancelled);
  expect(job.notifications).toEqual([
    {
      jsonrpc: '2.0',
      method: 'video.failed',
      params: { job_id: job.id, stream_id: job.id, status: 'cancelled', error: 'cancelled' },
    },
  ]);
  expect(submissionsOf(scene.video, job)).toBe(0);
});

test('a job that is cancelled while it is being submitted stays cancelled', async () => {
  const gate = createGate();
  scene.video.faults.next({ kind: 'held', until: gate.opened }, 1, 'submit');
  const job = await scene.create();
  await scene.video.until(() => submissionsOf(scene.video, job) === 1);
  await scene.jobs.cancel(scene.userId, job.id);
  const tasks = scene.video.taskCount;
  gate.open();
  await scene.video.until(() => scene.video.taskCount === tasks + 1);
  const later = await scene.create();
  await later.ended();
  expect(await job.state()).toMatchObject(cancelled);
  expect(job.notified).toEqual(['cancelled']);
  expect(scene.video.tasks.find(({ idempotencyKey }) => idempotencyKey === job.id)?.polls).toBe(0);
});

test('a cancelled running job is not polled again and costs nothing, and cancelling it twice is fine', async () => {
  scene.video.faults.always({ kind: 'never-finish' }, 'query');
  const job = await scene.create();
  await waitUntil(() => job.notified.includes(50), { what: 'a running job' });
  await scene.jobs.cancel(scene.userId, job.id);
  await scene.jobs.cancel(scene.userId, job.id);
  scene.video.faults.clear();
  const later = await scene.create();
  await later.ended();
  const polls = () =>
    scene.video.tasks.find(({ idempotencyKey }) => idempotencyKey === job.id)?.polls;
  const before = polls();
  const another = await scene.create();
  await another.ended();
  expect(polls()).toBe(before);
  expect(await job.state()).toMatchObject({ ...cancelled, progress: 50 });
  expect(job.notified).toEqual([0, 50, 'cancelled']);
  expect((await usageOf(scene.test, scene.userId)).map(({ id }) => id)).not.toContain(job.id);
});

test('a job that has ended otherwise cannot be cancelled', async () => {
  const done = await scene.create();
  await done.ended();
  scene.video.faults.next({ kind: 'fail' }, 1, 'query');
  const failed = await scene.create();
  await failed.ended();
  const cancel = (id: string) => scene.jobs.cancel(scene.userId, id);
  await expect(cancel(done.id)).rejects.toMatchObject({ code: 'job_ended' });
  await expect(cancel(failed.id)).rejects.toMatchObject({ code: 'job_ended' });
  expect([done.notified.at(-1), failed.notified.at(-1)]).toEqual(['done', 'failed']);
});

test('a job of another user, or a missing job, cannot be cancelled', async () => {
  const job = await scene.create();
  await expect(scene.jobs.cancel(newId(), job.id)).rejects.toMatchObject({ code: 'no_job' });
  await expect(scene.jobs.cancel(scene.userId, newId())).rejects.toMatchObject({ code: 'no_job' });
  expect(await job.ended()).toMatchObject({ status: 'done' });
});

test('of a concurrent cancellation and completion exactly one takes effect, and only a completion is paid', async () => {
  const JOBS = 24;
  const outcomes = await Promise.all(
    Array.from({ length: JOBS }, async (_, index) => {
      const job = await scene.create();
      await waitUntil(() => job.notified.includes(50), { what: 'a job that is about to be done' });
      // Spread over the time around the end of the jobs.
      await pause((index / JOBS) * POLL_MS * 3);
      const isCancelled = await scene.jobs.cancel(scene.userId, job.id).then(
        () => true,
        () => false,
      );
      const { status } = await job.ended();
      return { job, isCancelled, status };
    }),
  );
  const billed = new Set((await usageOf(scene.test, scene.userId)).map(({ id }) => id));
  for (const { job, isCancelled, status } of outcomes) {
    expect(status).toBe(isCancelled ? 'cancelled' : 'done');
    expect(job.notified.filter((word) => typeof word === 'string')).toEqual([status]);
    expect(billed.has(job.id)).toBe(!isCancelled);
  }
});
