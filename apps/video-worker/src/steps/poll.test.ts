import { createUpstreamWatch } from '@model-gateway/inference';
import { createMetrics, manualClock } from '@model-gateway/kernel';
import type { Backend, VideoTask } from '@model-gateway/router';
import { createVideoPace } from '../video-pace.ts';
import { createPoll, type PollJob } from './poll.ts';

const clock = manualClock(1_000_000);
const stopping = new AbortController();
const asked: string[] = [];
const failed: string[] = [];

function pollWith(backends: Readonly<Record<string, Backend['queryVideo']>>): PollJob {
  return createPoll({
    jobs: { advance: () => Promise.resolve(false) },
    watch: createUpstreamWatch({ metrics: createMetrics() }),
    router: {
      use: (name) => ({
        backend: {
          name,
          kind: 'cloud-video',
          capabilities: () => new Set(['video'] as const),
          probe: () => Promise.resolve({ state: 'Healthy', models: [] }),
          queryVideo: (taskId, signal) => {
            asked.push(name);
            return backends[name]?.(taskId, signal) ?? Promise.reject(new Error('no such backend'));
          },
          resolveVideo: () => Promise.resolve({ url: 'https://cdn.example.com/1.mp4' }),
          close: () => Promise.resolve(),
        },
        release: () => undefined,
      }),
    },
    notifications: { progress: () => Promise.resolve() },
    settle: () => Promise.resolve(),
    fail: (_jobId, error) => Promise.resolve(void failed.push(error)),
    pace: createVideoPace({ pollMs: 2_000, timeoutSecs: 60, clock }),
    clock,
    stopping: stopping.signal,
    answerMs: 20,
  });
}

const silent: Backend['queryVideo'] = (_taskId, signal) =>
  new Promise<VideoTask>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
const pending: Backend['queryVideo'] = () =>
  Promise.resolve({ state: 'pending', progress: undefined });
const jobOn = (backend: string) => ({
  id: 'job',
  backend,
  taskId: 'task',
  startedAt: new Date(clock.now()),
});

test('a job whose upstream does not answer waits longer each time, and one at a time waits for it', async () => {
  const poll = pollWith({ silent, busy: pending });
  expect(await poll(jobOn('silent'), {})).toEqual({
    afterMs: 4_000,
    memo: { failures: 1, unreadable: 0 },
  });
  const waiting = poll(jobOn('silent'), { failures: 1 });
  expect(await poll(jobOn('silent'), {})).toEqual({ afterMs: 2_000, memo: {} });
  expect(await poll(jobOn('busy'), {})).toEqual({ afterMs: 2_000 });
  expect(await waiting).toMatchObject({ afterMs: 8_000 });
  expect(asked).toEqual(['silent', 'silent', 'busy']);
  expect(failed).toEqual([]);
});

test('a job is looked at again no later than its time is up', async () => {
  const poll = pollWith({ silent });
  const job = jobOn('silent');
  clock.advance(59_000);
  expect(await poll(job, { failures: 9 })).toMatchObject({ afterMs: 1_000 });
  clock.advance(1_000);
  expect(await poll(job, { failures: 10 })).toBeUndefined();
  expect(failed.at(-1)).toContain('not finished within 60 s');
  failed.length = 0;
});

test('a worker that stops leaves its poll to the others, at once', async () => {
  const poll = pollWith({ silent });
  const polling = poll(jobOn('silent'), { failures: 2 });
  stopping.abort();
  expect(await polling).toEqual({ afterMs: 0, memo: { failures: 2 } });
});
