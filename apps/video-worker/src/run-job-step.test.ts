import type { VideoWork } from '@model-gateway/inference';
import { manualClock } from '@model-gateway/kernel';
import { createRunJobStep } from './run-job-step.ts';
import { createVideoTiming } from './video-timing.ts';

const result = { url: 'https://cdn.example.com/1.mp4' };

/** Runs one step of the given job; returns the next step and what was done. */
async function runStep(work: Partial<VideoWork> | undefined, isTakenOver = false) {
  const steps: string[] = [];
  const note = (step: string) => () => Promise.resolve(void steps.push(step));
  const runJobStep = createRunJobStep({
    jobs: {
      claimPoll: () => Promise.resolve(undefined),
      findWork: (id) => Promise.resolve(work === undefined ? undefined : workOf(id, work)),
    },
    notifications: { done: note('notified done'), failed: note('notified failed') },
    submit: () => Promise.resolve(void steps.push('submitted')),
    poll: () => Promise.resolve(void steps.push('polled')),
    cancel: () => Promise.resolve(void steps.push('cancelled')),
    timing: createVideoTiming({ pollMs: 2_000, timeoutSecs: 60, clock: manualClock(0) }),
  });
  return { next: await runJobStep({ jobId: 'job', memo: {}, isTakenOver }), steps };
}

const workOf = (id: string, work: Partial<VideoWork>): VideoWork => ({
  id,
  userId: 'user',
  model: 'v-1',
  status: 'queued',
  progress: 0,
  result: null,
  error: null,
  cost: 0,
  createdAt: new Date(0),
  payer: {
    userId: 'user',
    keyId: null,
    apiKeyId: 'jwt-user',
    project: null,
    groupId: null,
    multiplier: 1,
  },
  resolvedModel: 'v-1',
  order: { prompt: 'a cat' },
  allowedModels: null,
  backend: null,
  servedModel: null,
  cancelling: null,
  ...work,
});

test('a queued job is submitted', async () => {
  expect(await runStep({ status: 'queued' })).toEqual({ next: undefined, steps: ['submitted'] });
});

test('a running job that was just polled waits for the next interval', async () => {
  expect(await runStep({ status: 'running' })).toMatchObject({
    next: { afterMs: 2_000 },
    steps: [],
  });
});

test('after a worker crash at the end of a job the notification is sent again', async () => {
  expect((await runStep({ status: 'done', result }, true)).steps).toEqual(['notified done']);
  expect((await runStep({ status: 'failed', error: 'no GPU' }, true)).steps).toEqual([
    'notified failed',
  ]);
});

test('the upstream of a cancelled job is asked to cancel its task', async () => {
  expect((await runStep({ status: 'cancelled' }, true)).steps).toEqual(['cancelled']);
});

test.each([
  { why: 'ended while it waited', work: { status: 'done', result } as const, isTakenOver: false },
  { why: 'does not exist', work: undefined, isTakenOver: true },
])('nothing is done for a job that $why', async ({ work, isTakenOver }) => {
  expect(await runStep(work, isTakenOver)).toEqual({ next: undefined, steps: [] });
});
