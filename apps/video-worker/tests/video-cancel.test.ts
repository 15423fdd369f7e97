import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '@model-gateway/kernel';
import { createGate, fullSize, waitUntil } from '@model-gateway/testkit';
import {
  POLL_MS,
  startVideoScene,
  submissionsOf,
  usageOf,
  type ObservedJob,
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

describe('the upstream task of a cancelled job', () => {
  let charge: Record<string, unknown> = {};
  let cancelling: VideoScene;
  beforeAll(async () => {
    cancelling = await startVideoScene({ upstream: { cancelAnswer: () => charge } });
    await cancelling.test.context.database.videoPricing.save({
      model: 'v-1',
      mode: 'per_call',
      basePrice: 0.5,
      pricePerSecond: 0,
      pricePerFrame: 0,
      resolutionCoeff: {},
      currency: 'USD',
      enabled: true,
    });
  });
  beforeEach(() => cancelling.video.faults.always({ kind: 'never-finish' }, 'query'));
  afterEach(() => cancelling.video.faults.clear());
  afterAll(() => cancelling.close());

  const taskOf = (job: ObservedJob) =>
    cancelling.video.tasks.find(({ idempotencyKey }) => idempotencyKey === job.id)?.taskId;
  /** How often the upstream was asked to cancel the task of a job. */
  const askedFor = (job: ObservedJob): number =>
    cancelling.video.requests.filter(
      ({ path, body }) =>
        path === '/v1/cancel/video_generation' &&
        JSON.stringify(body) === JSON.stringify({ task_id: taskOf(job) }),
    ).length;
  const isAsked = async (job: ObservedJob): Promise<boolean> => {
    const work = await cancelling.test.context.database.videoJobs.findWork(job.id);
    return work?.status === 'cancelled' && work.cancelling === null && askedFor(job) > 0;
  };
  const billedFor = async (job: ObservedJob) =>
    (await usageOf(cancelling.test, cancelling.userId)).filter(({ id }) => id === job.id);

  async function cancelRunning(): Promise<ObservedJob> {
    const job = await cancelling.create();
    await waitUntil(() => job.notified.includes(50), { what: 'a running job' });
    await cancelling.jobs.cancel(cancelling.userId, job.id);
    return job;
  }

  test.each([
    ['charges nothing', { status: 'Cancelled' }, 0],
    ['charges a part', { status: 'Cancelled', cost: 0.125 }, 0.125],
    ['had finished it', { status: 'Success' }, 0.5],
    ['names more than the price', { cost: 1_000 }, 0.5],
    ['names no valid cost', { cost: -1 }, 0],
  ])('is cancelled once; the upstream %s', async (_what, answer, cost) => {
    charge = answer;
    const job = await cancelRunning();
    await waitUntil(() => isAsked(job), { what: 'an answer of the upstream' });
    expect(askedFor(job)).toBe(1);
    expect(await job.state()).toMatchObject({ ...cancelled, cost });
    expect(await billedFor(job)).toMatchObject(cost === 0 ? [] : [{ id: job.id, cost }]);
    expect(job.notified).toEqual([0, 50, 'cancelled']);
  });

  /** What the requests of the user in flight reserve, in USD; the call of this id reserves as much as a video costs. */
  async function reserve(id: string): Promise<number | undefined> {
    const { admission } = cancelling.test.context.bus;
    const { userId } = cancelling;
    const answer = await admission.admit({
      knownEpoch: Number.MAX_SAFE_INTEGER,
      limits: [],
      call: {
        id,
        userId,
        callsMax: 1_000,
        reservation: {
          tokens: 0,
          costUsd: 0.5,
          points: 0,
          tier: { monthlyUsdQuota: null, monthlyTokenQuota: null },
          account: { type: 'user', id: userId },
          isPriced: true,
        },
      },
    });
    return answer.outcome === 'admitted' ? answer.reserved.costUsd : undefined;
  }
  async function reservedUsd(): Promise<number | undefined> {
    const id = newId();
    const reserved = await reserve(id);
    const end = { id, userId: cancelling.userId };
    cancelling.test.context.bus.admission.endCall({
      ...end,
      endsCall: true,
      endsReservation: true,
    });
    return reserved;
  }

  test.each([
    ['charges nothing', {}],
    ['charges a part', { cost: 0.125 }],
  ])('has its price reserved until the upstream has answered; it %s', async (_what, answer) => {
    charge = answer;
    const gate = createGate();
    cancelling.video.faults.next({ kind: 'held', until: gate.opened }, 1, 'cancel');
    const job = await cancelling.create();
    await waitUntil(() => job.notified.includes(50), { what: 'a running job' });
    await reserve(job.id);
    await cancelling.jobs.cancel(cancelling.userId, job.id);
    await cancelling.video.until(() => askedFor(job) > 0);
    expect(await reservedUsd()).toBe(0.5);
    gate.open();
    await waitUntil(async () => (await reservedUsd()) === 0, { what: 'the end of a reservation' });
  });

  test('is cancelled again while the upstream does not answer, and billed once', async () => {
    charge = { cost: 0.25 };
    cancelling.video.faults.next({ kind: 'status', status: 503 }, 2, 'cancel');
    const job = await cancelRunning();
    await waitUntil(() => isAsked(job), { what: 'an answer of the upstream' });
    expect(askedFor(job)).toBe(3);
    expect(await billedFor(job)).toMatchObject([{ cost: 0.25 }]);
  });

  test('is cancelled when the job was cancelled during its submission', async () => {
    charge = {};
    const gate = createGate();
    cancelling.video.faults.next({ kind: 'held', until: gate.opened }, 1, 'submit');
    const job = await cancelling.create();
    await cancelling.video.until(() => submissionsOf(cancelling.video, job) === 1);
    await cancelling.jobs.cancel(cancelling.userId, job.id);
    gate.open();
    await waitUntil(() => isAsked(job), { what: 'an answer of the upstream' });
    expect(await job.state()).toMatchObject(cancelled);
  });

  test('is cancelled also without the announcement', async () => {
    charge = { cost: 0.125 };
    const job = await cancelling.create();
    await waitUntil(() => job.notified.includes(50), { what: 'a running job' });
    expect(await cancelling.test.context.database.videoJobs.cancel(job.id)).toBe(true);
    await waitUntil(() => isAsked(job), { what: 'an answer of the upstream' });
    expect(await billedFor(job)).toMatchObject([{ cost: 0.125 }]);
  });

  test('is left alone where the upstream cannot cancel', async () => {
    cancelling.video.faults.next({ kind: 'status', status: 404 }, 1, 'cancel');
    const job = await cancelRunning();
    await waitUntil(() => isAsked(job), { what: 'an answer of the upstream' });
    expect(askedFor(job)).toBe(1);
    expect(await job.state()).toMatchObject(cancelled);
    expect(await billedFor(job)).toEqual([]);
  });
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
  const JOBS = fullSize(24, { small: 10 });
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
