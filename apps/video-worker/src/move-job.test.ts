import type { VideoWork } from '@model-gateway/inference';
import { manualClock } from '@model-gateway/kernel';
import { createMoveJob } from './move-job.ts';
import { createVideoPace } from './video-pace.ts';

const result = { url: 'https://cdn.example.com/1.mp4' };

/** Moves a job that is as given, and says what was told and done. */
async function move(work: Partial<VideoWork> | undefined, isTakenOver = false) {
  const steps: string[] = [];
  const note = (step: string) => () => Promise.resolve(void steps.push(step));
  const moveJob = createMoveJob({
    jobs: {
      claimPoll: () => Promise.resolve(undefined),
      findWork: (id) => Promise.resolve(work === undefined ? undefined : workOf(id, work)),
    },
    notifications: { done: note('told done'), failed: note('told failed') },
    submit: () => Promise.resolve(void steps.push('submitted')),
    poll: () => Promise.resolve(void steps.push('polled')),
    pace: createVideoPace({ pollMs: 2_000, timeoutSecs: 60, clock: manualClock(0) }),
  });
  return { next: await moveJob({ jobId: 'job', memo: {}, isTakenOver }), steps };
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
  backend: null,
  servedModel: null,
  ...work,
});

test('a queued job is submitted', async () => {
  expect(await move({ status: 'queued' })).toEqual({ next: undefined, steps: ['submitted'] });
});

test('a running job that somebody just asked about waits for the next interval', async () => {
  expect(await move({ status: 'running' })).toMatchObject({ next: { afterMs: 2_000 }, steps: [] });
});

test('a worker that died at the end of a job may have told nobody, so that is told again', async () => {
  expect((await move({ status: 'done', result }, true)).steps).toEqual(['told done']);
  expect((await move({ status: 'failed', error: 'no GPU' }, true)).steps).toEqual(['told failed']);
});

test.each([
  { why: 'ended while it waited', work: { status: 'done', result } as const, isTakenOver: false },
  {
    why: 'was cancelled, which was told',
    work: { status: 'cancelled' } as const,
    isTakenOver: true,
  },
  { why: 'is gone', work: undefined, isTakenOver: true },
])('there is nothing to do for a job that $why', async ({ work, isTakenOver }) => {
  expect(await move(work, isTakenOver)).toEqual({ next: undefined, steps: [] });
});
